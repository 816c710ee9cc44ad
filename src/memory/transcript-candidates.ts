/**
 * Which messages are worth comparing with the query: those with all its words; too few of them, those with its characters
 * anywhere; still too few, those with its rarest words. Newest first, bounded, with room for the event loop in between.
 */
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Database } from '../storage/database.js';
import { createStatements } from './statements.js';
import { createTermFrequencies } from './term-frequencies.js';
import type { Concept } from './transcript-concepts.js';
import type { TranscriptFilter } from './transcript-filter.js';
import { sessionToken } from './transcript-tokens.js';

export interface Candidates {
  keys: number[];
  /** Those of them that hold every word as the segmenter sees it. */
  withAllWords: ReadonlySet<number>;
}

export interface TranscriptCandidates {
  /** Among the rows up to `head`. At least `wanted` full matches, if there are as many. */
  find(concepts: readonly Concept[], filter: TranscriptFilter, head: number, wanted: number): Promise<Candidates>;
  /** The rarer a concept, the more it counts. */
  weightOf(concept: Concept, head: number): number;
}

/** Messages compared with the query. */
const maxCandidates = 200;
/** Keys looked through before the event loop gets its turn. */
const stretch = 200_000;
/** After this the search answers with what it has. */
const maxSearchMs = 1000;
/** A word in as many messages is frequent. */
const frequentFrom = 1000;
/** Words that a message must hold one of, when none holds all. */
const maxRare = 4;
const maxSessionTokens = 50;

export function createTranscriptCandidates(db: Database): TranscriptCandidates {
  const prepare = createStatements(db);
  const frequencies = createTermFrequencies(db, 'transcript_index', frequentFrom);

  async function collect(match: string, { where, parameters, sessionKeys }: TranscriptFilter, head: number) {
    const startedAt = performance.now();
    const isFew = sessionKeys !== undefined && sessionKeys.length <= maxSessionTokens;
    const sessions = isFew ? `(${sessionKeys.map((key) => `"${sessionToken(key)}"`).join(' OR ')}) AND ` : '';
    const statement = prepare(
      `SELECT e.key FROM transcript_index CROSS JOIN events e ON e.key = transcript_index.rowid
       WHERE transcript_index MATCH @match AND transcript_index.rowid > @low AND transcript_index.rowid <= @high
       AND ${where} ORDER BY transcript_index.rowid DESC LIMIT @most`,
    );
    const keys: number[] = [];
    for (let high = head; high > 0 && keys.length < maxCandidates; high -= stretch) {
      const bounds = { low: high - stretch, high, most: maxCandidates - keys.length };
      const rows = statement.all({ ...parameters, match: `${sessions}(${match})`, ...bounds }) as { key: number }[];
      keys.push(...rows.map(({ key }) => key));
      if (performance.now() - startedAt > maxSearchMs) break;
      await nextTick();
    }
    return keys;
  }

  return {
    async find(concepts, filter, head, wanted) {
      const strict = concepts.filter((concept) => concept.isStrict);
      const asWords = strict.map((concept) => concept.asWord).join(' AND ');
      const anywhere = strict.map((concept) => concept.anywhere).join(' AND ');
      const keys = new Set(asWords === '' ? [] : await collect(asWords, filter, head));
      const withAllWords: ReadonlySet<number> = new Set(keys);
      const add = async (match: string) => {
        for (const key of await collect(match, filter, head)) keys.add(key);
      };
      if (keys.size >= wanted) return { keys: [...keys], withAllWords };
      const rare = rarest(concepts);
      const rareCount = rare.reduce((sum, { count }) => sum + count, 0);
      // Where the rare ones are few, whatever holds everything is among them.
      if (rareCount > maxCandidates && anywhere !== asWords) await add(anywhere);
      if (rare.length > 0 && keys.size < wanted) await add(rare.map((concept) => concept.anywhere).join(' OR '));
      return { keys: [...keys], withAllWords };
    },
    weightOf({ anywhere, isStrict }, head) {
      const weight = Math.log(1 + Math.max(head, frequentFrom) / (frequencies.of(anywhere) + 1));
      return isStrict ? weight : weight * 0.3;
    },
  };

  /** Those that say most: strict ones if they are to be found at all. */
  function rarest(concepts: readonly Concept[]): { anywhere: string; count: number }[] {
    const counted = concepts.map((concept) => ({ ...concept, count: frequencies.of(concept.anywhere) }));
    const found = counted.filter(({ count }) => count > 0).sort((a, b) => a.count - b.count);
    const strict = found.filter(({ isStrict }) => isStrict);
    const rare = (strict.length > 0 ? strict : found).filter(({ count }) => count < frequentFrom);
    return rare.length > 0 ? rare.slice(0, maxRare) : found.slice(0, 1);
  }
}

/** Search over the transcripts: candidates from the index and what is not indexed yet, compared with the query here. */
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Database } from '../storage/database.js';
import type { Cutter } from './cutter.js';
import { normalise } from './normalise.js';
import { maxQueryLength } from './query-terms.js';
import { placesOf, snippetOf } from './snippet.js';
import { createStatements } from './statements.js';
import { createTranscriptCandidates } from './transcript-candidates.js';
import { type Concept, conceptsOf } from './transcript-concepts.js';
import {
  type TranscriptFilter,
  type TranscriptQuery,
  type TranscriptRole,
  transcriptFilter,
} from './transcript-filter.js';

export interface TranscriptHit {
  eventKey: number;
  sessionKey: number;
  /** Within its session. */
  eventId: number;
  runId: string;
  role: TranscriptRole;
  /** ms since the epoch. */
  at: number;
  /** Above 0, higher is better; comparable within one answer only. */
  score: number;
  /** Each hit between ⟦ and ⟧. */
  snippet: string;
}

export type SearchTranscripts = (query: string, options: TranscriptQuery) => Promise<TranscriptHit[]>;

interface Message extends Omit<TranscriptHit, 'score' | 'snippet' | 'role'> {
  type: string;
  text: string;
}

/** Messages that are not indexed yet and are read all the same, newest first. */
const maxUnindexed = 500;
/** Texts compared before the event loop gets its turn. */
const comparedAtOnce = 40;
/** A message that holds every word as the segmenter sees it, against one that holds the same characters. */
const wholeWords = 1.2;
const wholePhrase = 1.5;
const halfLifeMs = 30 * 86_400_000;

const columns = `e.key AS eventKey, e.session_key AS sessionKey, e.id AS eventId, e.run_id AS runId, e.type, e.at,
  coalesce(substr(json_extract(e.body, '$.text'), 1, 20000), '') AS text`;

/** `indexedTo`: every row up to this key is in the index. */
export function createTranscriptSearch(
  db: Database,
  cutter: Cutter,
  now: () => number,
  indexedTo: () => number,
): SearchTranscripts {
  const prepare = createStatements(db);
  const candidates = createTranscriptCandidates(db);

  const unindexedKeys = (head: number, { where, parameters }: TranscriptFilter) =>
    (
      prepare(
        `SELECT e.key FROM events e WHERE e.key > @head AND ${where} ORDER BY e.key DESC LIMIT ${maxUnindexed}`,
      ).all({
        ...parameters,
        head,
      }) as { key: number }[]
    ).map(({ key }) => key);
  const read = (keys: readonly number[], { where, parameters }: TranscriptFilter) =>
    prepare(`SELECT ${columns} FROM events e WHERE e.key IN (SELECT value FROM json_each(@keys)) AND ${where}`).all({
      ...parameters,
      keys: JSON.stringify(keys),
    }) as Message[];
  const newest = ({ where, parameters }: TranscriptFilter, limit: number) =>
    prepare(
      `SELECT ${columns} FROM events e WHERE ${where} AND json_extract(e.body, '$.text') <> '' ORDER BY e.key DESC LIMIT @limit`,
    ).all({ ...parameters, limit }) as Message[];

  return async (query, options) => {
    const text = query.slice(0, maxQueryLength).trim();
    const limit = Math.max(1, Math.min(100, Math.floor(options.limit ?? 20)));
    const filter = transcriptFilter(options);
    if (filter.sessionKeys?.length === 0) return [];
    if (text === '') return options.recent ? newest(filter, limit).map((row) => hitOf(row, 1, [])) : [];
    const cut = await cutter.cut([text], { wait: false });
    const concepts = conceptsOf(cut?.texts[0] ?? cutter.cutPlainly(text));
    if (concepts.length === 0) return [];
    // Rows that are indexed while this search runs are read like those that are not.
    const head = indexedTo();
    const { keys, withAllWords } = await candidates.find(concepts, filter, head, limit);
    const weighed = concepts.map((concept) => ({ ...concept, weight: candidates.weightOf(concept, head) }));
    const phrase = normalise(text);
    const scored: { message: Message; score: number }[] = [];
    const all = [...unindexedKeys(head, filter), ...keys];
    for (let at = 0; at < all.length; at += comparedAtOnce) {
      for (const message of read(all.slice(at, at + comparedAtOnce), filter)) {
        const bonus = withAllWords.has(message.eventKey) ? wholeWords : 1;
        const score = bonus * scoreOf(message, weighed, phrase, now());
        if (score > 0) scored.push({ message, score });
      }
      await nextTick();
    }
    scored.sort((a, b) => (options.recent ? 0 : b.score - a.score) || b.message.eventKey - a.message.eventKey);
    return scored.slice(0, limit).map(({ message, score }) => hitOf(message, score, concepts));
  };
}

function scoreOf(
  { text, at }: Message,
  concepts: readonly (Concept & { weight: number })[],
  phrase: string,
  now: number,
): number {
  const plain = normalise(text);
  let score = 0;
  for (const { needle, weight } of concepts) {
    const count = placesOf(plain, needle, 5).length;
    if (count > 0) score += weight * (1 + 0.2 * Math.log(count));
  }
  if (score > 0 && phrase.length > 1 && plain.includes(phrase)) score *= wholePhrase;
  const length = 1 + 0.1 * Math.log(1 + plain.length / 200);
  const recency = 0.95 + 0.1 * 0.5 ** (Math.max(0, now - at) / halfLifeMs);
  return (score * recency) / length;
}

function hitOf({ type, text, ...place }: Message, score: number, concepts: readonly Concept[]): TranscriptHit {
  const needles = concepts.map((concept) => concept.needle);
  return { ...place, role: type === 'user-message' ? 'user' : 'assistant', score, snippet: snippetOf(text, needles) };
}

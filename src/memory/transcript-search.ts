/**
 * Search over the transcripts. The index yields candidates, newest first and never more than a bound, in stretches
 * between which the event loop is free; their texts are then compared with the query here.
 */
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Database } from '../storage/database.js';
import type { Cutter } from './cutter.js';
import { normalise } from './normalise.js';
import { maxQueryLength } from './query-terms.js';
import { placesOf, snippetOf } from './snippet.js';
import { type Concept, conceptsOf } from './transcript-concepts.js';
import { sessionToken } from './transcript-tokens.js';

export type TranscriptRole = 'user' | 'assistant';

export interface TranscriptQuery {
  /** Nothing outside these sessions is returned. Absent: all that are not deleted, which is for owners only. */
  sessionKeys?: readonly number[];
  role?: TranscriptRole;
  /** 1 to 100, default 20. */
  limit?: number;
  /** ms since the epoch, both exclusive. */
  before?: number;
  after?: number;
  /** Newest first instead of best first; an empty query then lists the newest messages. */
  recent?: boolean;
}

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

interface SearchParts {
  db: Database;
  cutter: Cutter;
  now: () => number;
  indexedTo: () => number;
}

interface Candidate extends Omit<TranscriptHit, 'score' | 'snippet' | 'role'> {
  type: string;
  text: string;
}

/** Messages compared with the query. */
const maxCandidates = 200;
/** Messages that are not indexed yet and are read all the same, newest first. */
const maxUnindexed = 500;
/** Texts compared before the event loop gets its turn. */
const comparedAtOnce = 40;
/** Keys looked through before the event loop gets its turn. */
const stretch = 200_000;
/** After this the search answers with what it has. */
const maxSearchMs = 1000;
/** More matches than this are not counted: such a word is frequent. */
const countedTo = 2000;
const maxSessionTokens = 50;
const halfLifeMs = 30 * 86_400_000;

export async function searchTranscripts(
  parts: SearchParts,
  query: string,
  options: TranscriptQuery,
): Promise<TranscriptHit[]> {
  const { db, cutter, now } = parts;
  const text = query.slice(0, maxQueryLength).trim();
  const limit = Math.max(1, Math.min(100, Math.floor(options.limit ?? 20)));
  if (options.sessionKeys?.length === 0) return [];
  if (text === '') return options.recent ? newest(db, options, limit, now) : [];
  const cut = await cutter.cut([text], { wait: false });
  const concepts = conceptsOf(cut?.texts[0] ?? cutter.cutPlainly(text));
  if (concepts.length === 0) return [];
  // Rows that are indexed while this search runs are read like those that are not.
  const head = parts.indexedTo();
  const keys = [...unindexedKeys(db, head, options), ...(await candidateKeys(db, head, concepts, options, limit))];
  const phrase = normalise(text);
  const scored: { candidate: Candidate; score: number }[] = [];
  for (let at = 0; at < keys.length; at += comparedAtOnce) {
    for (const candidate of readTexts(db, keys.slice(at, at + comparedAtOnce), options)) {
      const score = scoreOf(candidate, concepts, phrase, now());
      if (score > 0) scored.push({ candidate, score });
    }
    await nextTick();
  }
  scored.sort((a, b) => (options.recent ? 0 : b.score - a.score) || b.candidate.eventKey - a.candidate.eventKey);
  const needles = concepts.map((concept) => concept.needle);
  return scored
    .slice(0, limit)
    .map(({ candidate, score }) => hitOf(candidate, score, snippetOf(candidate.text, needles)));
}

/** First the messages with all concepts; too few of them: those with the rarest. */
async function candidateKeys(
  db: Database,
  head: number,
  concepts: Concept[],
  options: TranscriptQuery,
  limit: number,
): Promise<number[]> {
  const strict = concepts.filter((concept) => concept.isStrict);
  const all = strict.length === 0 ? concepts : strict;
  const keys = await collect(db, head, all.map((concept) => concept.match).join(' AND '), options, maxCandidates);
  weigh(db, head, concepts);
  if (keys.length >= limit) return keys;
  const rare = concepts.filter((concept) => concept.count < countedTo);
  const any = rare.length > 0 ? rare : [concepts.reduce((a, b) => (b.weight > a.weight ? b : a))];
  const more = await collect(db, head, any.map((concept) => concept.match).join(' OR '), options, maxCandidates);
  return [...new Set([...keys, ...more])];
}

async function collect(
  db: Database,
  head: number,
  match: string,
  options: TranscriptQuery,
  most: number,
): Promise<number[]> {
  const startedAt = performance.now();
  const { where, parameters } = conditions(options);
  const { sessionKeys } = options;
  const isFew = sessionKeys !== undefined && sessionKeys.length <= maxSessionTokens;
  const sessions = isFew ? `(${sessionKeys.map((key) => `"${sessionToken(key)}"`).join(' OR ')}) AND ` : '';
  const statement = db.sqlite
    .prepare(
      `SELECT e.key FROM transcript_index CROSS JOIN events e ON e.key = transcript_index.rowid
       WHERE transcript_index MATCH @match AND transcript_index.rowid > @low AND transcript_index.rowid <= @high AND ${where}
       ORDER BY transcript_index.rowid DESC LIMIT @most`,
    )
    .pluck();
  const keys: number[] = [];
  for (let high = head; high > 0; high -= stretch) {
    const bounds = { low: high - stretch, high, most: most - keys.length };
    keys.push(...(statement.all({ ...parameters, match: `${sessions}(${match})`, ...bounds }) as number[]));
    if (keys.length >= most || performance.now() - startedAt > maxSearchMs) break;
    await nextTick();
  }
  return keys;
}

/** The rarer a concept, the more it counts. */
function weigh(db: Database, head: number, concepts: Concept[]): void {
  const count = db.sqlite
    .prepare('SELECT count(*) FROM (SELECT 1 FROM transcript_index WHERE transcript_index MATCH ? LIMIT ?)')
    .pluck();
  for (const concept of concepts) {
    concept.count = count.get(concept.match, countedTo) as number;
    concept.weight = Math.log(1 + Math.max(head, countedTo) / (concept.count + 1)) * (concept.isStrict ? 1 : 0.3);
  }
}

function conditions({ sessionKeys, role, before, after }: TranscriptQuery) {
  const list: [string, Record<string, string | number>][] = [
    sessionKeys
      ? ['e.session_key IN (SELECT value FROM json_each(@sessions))', { sessions: JSON.stringify(sessionKeys) }]
      : ['NOT EXISTS (SELECT 1 FROM sessions s WHERE s.key = e.session_key AND s.deleted_at IS NOT NULL)', {}],
    role ? ['e.type = @type', { type: `${role}-message` }] : ["e.type IN ('user-message', 'assistant-message')", {}],
  ];
  if (before !== undefined) list.push(['e.at < @before', { before }]);
  if (after !== undefined) list.push(['e.at > @after', { after }]);
  return {
    where: list.map(([sql]) => sql).join(' AND '),
    parameters: Object.assign({}, ...list.map(([, parameters]) => parameters)) as Record<string, string | number>,
  };
}

const columns =
  "e.key AS eventKey, e.session_key AS sessionKey, e.id AS eventId, e.run_id AS runId, e.type, e.at, coalesce(substr(json_extract(e.body, '$.text'), 1, 20000), '') AS text";

function readTexts(db: Database, keys: readonly number[], options: TranscriptQuery): Candidate[] {
  const { where, parameters } = conditions(options);
  return db.sqlite
    .prepare(`SELECT ${columns} FROM events e WHERE e.key IN (SELECT value FROM json_each(@keys)) AND ${where}`)
    .all({ ...parameters, keys: JSON.stringify(keys) }) as Candidate[];
}

function unindexedKeys(db: Database, head: number, options: TranscriptQuery): number[] {
  const { where, parameters } = conditions(options);
  return db.sqlite
    .prepare(`SELECT e.key FROM events e WHERE e.key > @head AND ${where} ORDER BY e.key DESC LIMIT ${maxUnindexed}`)
    .pluck()
    .all({ ...parameters, head }) as number[];
}

function newest(db: Database, options: TranscriptQuery, limit: number, now: () => number): TranscriptHit[] {
  const { where, parameters } = conditions({ ...options, before: options.before ?? now() + 1 });
  const rows = db.sqlite
    .prepare(
      `SELECT ${columns} FROM events e WHERE ${where} AND json_extract(e.body, '$.text') <> '' ORDER BY e.key DESC LIMIT @limit`,
    )
    .all({ ...parameters, limit }) as Candidate[];
  return rows.map((row) => hitOf(row, 1, snippetOf(row.text, [])));
}

function scoreOf({ text, at }: Candidate, concepts: readonly Concept[], phrase: string, now: number): number {
  const plain = normalise(text);
  let score = 0;
  for (const { needle, weight } of concepts) {
    const count = placesOf(plain, needle, 5).length;
    if (count > 0) score += weight * (1 + 0.2 * Math.log(count));
  }
  if (score === 0) return 0;
  if (phrase.length > 1 && plain.includes(phrase)) score *= 1.5;
  const length = 1 + 0.1 * Math.log(1 + plain.length / 200);
  const recency = 0.95 + 0.1 * 0.5 ** (Math.max(0, now - at) / halfLifeMs);
  return (score * recency) / length;
}

function hitOf({ type, text: _text, ...candidate }: Candidate, score: number, snippet: string): TranscriptHit {
  return { ...candidate, role: type === 'user-message' ? 'user' : 'assistant', score, snippet };
}

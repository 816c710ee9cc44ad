/**
 * Full-text index over what was said: user and assistant messages in `events`. Writing a message costs nothing here:
 * rows are indexed in slices in the background, and a search also reads the few that are not indexed yet.
 */
import type { Logger } from '../observability/log.js';
import type { Database } from '../storage/database.js';
import { createBackground } from './background.js';
import { type CutText, createCutter, pairsOfRuns } from './cutter.js';
import type { Dictionary } from './dictionary.js';
import { createIndexMerger } from './index-merger.js';
import type { Segmenter } from './segmenter.js';
import { realTimers, type Timers } from './timers.js';
import type { TranscriptQuery } from './transcript-filter.js';
import { createTranscriptSearch, type TranscriptHit } from './transcript-search.js';
import { pairToken, sessionToken } from './transcript-tokens.js';

export interface TranscriptIndex {
  /** New rows are in `events`. Call it after or inside the transaction that stores them; it only wakes the background. */
  wake(): void;
  /** Best match first, or newest first. Any text is a valid query. */
  search(query: string, options: TranscriptQuery): Promise<TranscriptHit[]>;
  /** For `doctor`: rows that wait for their first, and for a better cut. */
  stats(): { indexedTo: number; lastEvent: number; isCuttingAnew: boolean };
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface TranscriptIndexOptions {
  db: Database;
  segmenter: Segmenter;
  dictionary: Dictionary;
  log: Logger;
  now: () => number;
  timers?: Timers;
}

/** Kept in `meta`, in the transaction of each slice. */
export interface IndexState {
  /** Every row up to this key is in the index. */
  head: number;
  /** Engine and dictionary of what is in it. */
  cutBy: string;
  /** The rows above `next` up to `end` are still to be cut anew. */
  anew: { next: number; end: number } | null;
}

/** Longer messages are indexed to here. */
export const maxIndexedLength = 20_000;
/** Bounds of a slice: about 5 ms of work. */
const sliceRows = 40;
const sliceCharacters = 10_000;
/** What comes in together is written together; a search reads what waits. */
const delayMs = 1000;
const metaKey = 'transcript_index';

interface Row {
  key: number;
  sessionKey: number;
  text: string | null;
}

export function createTranscriptIndex(options: TranscriptIndexOptions): TranscriptIndex {
  const { db, log, now, timers = realTimers } = options;
  const { sqlite } = db;
  const cutter = createCutter(options.segmenter, options.dictionary);
  const read = sqlite.prepare<[number, number, number], Row>(
    `SELECT key, session_key AS sessionKey, CASE WHEN type IN ('user-message', 'assistant-message')
       THEN substr(json_extract(body, '$.text'), 1, ${maxIndexedLength}) END AS text
     FROM events WHERE key > ? AND key <= ? ORDER BY key LIMIT ?`,
  );
  const put = sqlite.prepare('INSERT OR REPLACE INTO transcript_index (rowid, tokens) VALUES (?, ?)');
  const merger = createIndexMerger(db, 'transcript_index');
  const save = sqlite.prepare(
    `INSERT INTO meta VALUES ('${metaKey}', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
  );
  let state = loadState(db);

  /** Index and state in one transaction. The state counts only once that is committed. */
  function advance(next: IndexState, write: () => void = () => {}): void {
    db.transaction(() => {
      write();
      save.run(JSON.stringify(next));
    });
    state = next;
  }

  /** Rows after `from`, as many as one slice bears. */
  function readSlice(from: number, to: number): { rows: Row[]; last: number } | undefined {
    const rows = read.all(from, to, sliceRows);
    if (rows.length === 0) return undefined;
    let size = 0;
    for (let characters = 0; size < rows.length && characters < sliceCharacters; size += 1) {
      characters += rows[size]!.text?.length ?? 0;
    }
    const slice = rows.slice(0, size);
    return { rows: slice.filter((row) => row.text), last: slice.at(-1)!.key };
  }

  async function slice(isClosed: () => boolean): Promise<boolean> {
    const current = cutter.current() ?? '';
    if (current !== state.cutBy) {
      const anew = state.head > 0 && current !== '' ? { next: 0, end: state.head } : state.anew;
      advance({ ...state, cutBy: current, anew });
    }
    return (
      (await indexTail(isClosed)) ||
      (!isClosed() && (await cutAnew(isClosed))) ||
      (!isClosed() && (merger.step() || merger.compactStep()))
    );
  }

  async function indexTail(isClosed: () => boolean): Promise<boolean> {
    const found = readSlice(state.head, Number.MAX_SAFE_INTEGER);
    if (!found) return false;
    const { rows, last } = found;
    const texts = rows.map((row) => row.text!);
    const cut = await cutter.cut(texts, { wait: true });
    if (isClosed()) return false;
    // Without the segmenter by pairs alone, to be cut when it is there again.
    const first = rows[0]?.key ?? last;
    const anew = cut ? state.anew : { next: Math.min(state.anew?.next ?? first, first - 1), end: last };
    advance({ ...state, head: last, anew }, () => {
      rows.forEach((row, index) => void write(row, cut?.texts[index] ?? cutter.cutPlainly(texts[index]!)));
    });
    merger.step();
    return true;
  }

  async function cutAnew(isClosed: () => boolean): Promise<boolean> {
    const { anew } = state;
    if (!anew || cutter.current() === undefined) return false;
    const found = readSlice(anew.next, anew.end);
    const cut = await cutter.cut(found?.rows.map((row) => row.text!) ?? [], { wait: true });
    if (!cut || isClosed()) return false;
    advance({ ...state, anew: found ? { next: found.last, end: anew.end } : null }, () => {
      found?.rows.forEach((row, index) => {
        if (cut.cutBy[index] !== null) write(row, cut.texts[index]!);
      });
    });
    merger.step();
    return true;
  }

  function write(row: Row, { words, runWords, runs }: CutText): void {
    const pairs = pairsOfRuns(runs).map(pairToken);
    put.run(row.key, [...new Set([sessionToken(row.sessionKey), ...words, ...runWords, ...pairs])].join(' '));
  }

  const background = createBackground({ slice, timers, log, delayMs });
  return {
    wake: background.wake,
    settled: background.settled,
    close: background.close,
    search: createTranscriptSearch(db, cutter, now, () => state.head),
    stats() {
      const lastEvent = sqlite.prepare('SELECT coalesce(max(key), 0) FROM events').pluck().get() as number;
      return { indexedTo: state.head, lastEvent, isCuttingAnew: state.anew !== null };
    },
  };
}

function loadState({ sqlite }: Database): IndexState {
  const value = sqlite.prepare('SELECT value FROM meta WHERE key = ?').pluck().get(metaKey) as string | undefined;
  return value === undefined ? { head: 0, cutBy: '', anew: null } : (JSON.parse(value) as IndexState);
}

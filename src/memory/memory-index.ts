/**
 * The full-text index of the memories. A new or changed text waits (`cut_by` = '') until the background has cut it into
 * words; a search that comes first indexes what waits in its scopes by pairs of characters. What is removed or replaced
 * leaves the index in the transaction that does it. Another engine or dictionary cuts everything anew, in the background.
 */
import { createHash } from 'node:crypto';
import type { Logger } from '../observability/log.js';
import type { Database } from '../storage/database.js';
import { type Background, createBackground } from './background.js';
import { type CutText, type Cutter, pairsOfRuns } from './cutter.js';
import { createIndexMerger } from './index-merger.js';
import type { Timers } from './timers.js';
import { needsDictionary } from './tokens.js';

export interface MemoryIndex {
  /** Inside the caller's transaction. */
  remove(seq: number): void;
  /** Indexes what still waits in these scopes, so that a search misses nothing of them. */
  catchUp(scopes: readonly string[]): Promise<void>;
  /** The same without the segmenter, and at once. */
  catchUpPlainly(scopes: readonly string[]): void;
  background: Background;
  /** Rows that are not cut as they should be. */
  waiting(): number;
}

interface Row {
  seq: number;
  scope: string;
  key: string;
  content: string;
}

/** `cut_by` of a row that is not in the index yet. */
export const waits = '';
/** `cut_by` of a row that is indexed without the words of its runs. */
const pairsOnly = 'pairs';
/** Rows per slice, about 5 ms: taking an old row's entries out of the index is what costs. */
const freshPerSlice = 50;
const stalePerSlice = 8;
/** What is stored together is cut together. */
const delayMs = 200;
/** More than this wait only after an import; the rest is indexed within seconds. */
const maxCatchUp = 1000;

export function createMemoryIndex(db: Database, cutter: Cutter, deps: { timers: Timers; log: Logger }): MemoryIndex {
  const { sqlite } = db;
  const merger = createIndexMerger(db, 'memory_index');
  const remove = sqlite.prepare('DELETE FROM memory_index WHERE rowid = ?');
  const insert = sqlite.prepare('INSERT INTO memory_index (rowid, scope, key, words, pairs) VALUES (?, ?, ?, ?, ?)');
  const indexed = sqlite.prepare('SELECT scope, key, words, pairs FROM memory_index WHERE rowid = ?').raw();
  const setCut = sqlite.prepare('UPDATE memories SET cut_by = ? WHERE seq = ?');
  const fresh = sqlite.prepare<[string, number], Row>(
    'SELECT seq, scope, key, content FROM memories WHERE cut_by = ? LIMIT ?',
  );
  const freshIn = sqlite.prepare<[string, string, number], Row>(
    `SELECT seq, scope, key, content FROM memories WHERE cut_by = ? AND scope IN (SELECT value FROM json_each(?))
     ORDER BY seq DESC LIMIT ?`,
  );
  // Two ranges instead of <>, so that the index serves them.
  const staleRanges = "(cut_by > '' AND cut_by < ?) OR cut_by > ?";
  const stale = sqlite.prepare<[string, string, number], Row>(
    `SELECT seq, scope, key, content FROM memories WHERE ${staleRanges} LIMIT ?`,
  );
  const countWaiting = sqlite.prepare(`SELECT count(*) FROM memories WHERE cut_by = '' OR ${staleRanges}`).pluck();
  const cutOf = sqlite.prepare('SELECT cut_by FROM memories WHERE seq = ? AND key = ? AND content = ?').pluck();

  function put(row: Row, key: CutText, content: CutText, cutBy: string | null): void {
    const before = cutOf.get(row.seq, row.key, row.content) as string | null | undefined;
    // Changed or forgotten while its words were looked up: what is there now is newer.
    if (before === undefined) return;
    const entry = [
      scopeToken(row.scope),
      [...key.words, ...key.runWords].join(' '),
      [...content.words, ...content.runWords].join(' '),
      pairsOfRuns([...key.runs, ...content.runs]).join(' '),
    ];
    const old = before === waits ? undefined : (indexed.get(row.seq) as string[] | undefined);
    if (!old || entry.some((text, column) => text !== old[column])) {
      if (old) remove.run(row.seq);
      insert.run(row.seq, ...entry);
    }
    setCut.run(cutBy, row.seq);
  }

  function putPlainly(row: Row): void {
    const [key, content] = [cutter.cutPlainly(row.key), cutter.cutPlainly(row.content)];
    put(row, key, content, [...key.runs, ...content.runs].some(needsDictionary) ? pairsOnly : null);
  }

  /** False: the segmenter does not answer now, fresh rows went in without it. */
  async function putAll(rows: readonly Row[], wait: boolean, isClosed: () => boolean): Promise<boolean> {
    const cut = await cutter.cut(
      rows.flatMap((row) => [row.key, row.content]),
      { wait },
    );
    if (isClosed()) return false;
    db.transaction(() => {
      rows.forEach((row, index) => {
        const [key, content] = [cut?.texts[2 * index], cut?.texts[2 * index + 1]];
        if (key && content) put(row, key, content, cut?.cutBy[2 * index] ?? cut?.cutBy[2 * index + 1] ?? null);
        else putPlainly(row);
      });
    });
    return cut !== undefined;
  }

  async function slice(isClosed: () => boolean): Promise<boolean> {
    const current = cutter.current();
    const waiting = fresh.all(waits, freshPerSlice);
    if (waiting.length > 0) {
      const isCut = await putAll(waiting, true, isClosed);
      merger.step();
      return isCut || waiting.length === freshPerSlice;
    }
    const rows = current === undefined ? [] : stale.all(current, current, stalePerSlice);
    if (rows.length > 0) return putAll(rows, true, isClosed);
    return !isClosed() && (merger.step() || merger.compactStep());
  }

  const waitingIn = (scopes: readonly string[]) => freshIn.all(waits, JSON.stringify(scopes), maxCatchUp);

  return {
    remove: (seq) => void remove.run(seq),
    async catchUp(scopes) {
      const rows = waitingIn(scopes);
      if (rows.length > 0) await putAll(rows, false, () => false);
    },
    catchUpPlainly(scopes) {
      const rows = waitingIn(scopes);
      if (rows.length > 0) db.transaction(() => rows.forEach(putPlainly));
    },
    background: createBackground({ slice, delayMs, ...deps }),
    waiting() {
      const current = cutter.current() ?? pairsOnly;
      return countWaiting.get(current, current) as number;
    },
  };
}

/** Stands for the scope in the index, so that a search reads the asker's rows only. The row itself has the last word. */
export function scopeToken(scope: string): string {
  return `s${createHash('sha256').update(scope).digest('hex').slice(0, 16)}`;
}

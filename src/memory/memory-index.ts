/**
 * The full-text index of the memories. A row is indexed in the transaction that changes the memory, at once by pairs of
 * characters; the segmenter's words follow in the background, and again when the engine or the dictionary changes.
 */
import { createHash } from 'node:crypto';
import type { Logger } from '../observability/log.js';
import type { Database } from '../storage/database.js';
import { type Background, createBackground } from './background.js';
import { type CutText, type Cutter, pairsOfRuns } from './cutter.js';
import type { Timers } from './timers.js';

export interface MemoryIndex {
  /** Inside the caller's transaction. */
  write(row: IndexedRow): void;
  /** Inside the caller's transaction. */
  remove(seq: number): void;
  background: Background;
  waiting(): number;
}

export interface IndexedRow {
  seq: number;
  scope: string;
  key: string;
  content: string;
}

/** Rows cut again per slice: about 5 ms. */
const sliceSize = 50;

export function createMemoryIndex(db: Database, cutter: Cutter, deps: { timers: Timers; log: Logger }): MemoryIndex {
  const { sqlite } = db;
  const remove = sqlite.prepare('DELETE FROM memory_index WHERE rowid = ?');
  const insert = sqlite.prepare('INSERT INTO memory_index (rowid, scope, key, words, pairs) VALUES (?, ?, ?, ?, ?)');
  const setCut = sqlite.prepare('UPDATE memories SET cut_by = ? WHERE seq = ?');
  // Two ranges instead of <>, so that the index serves them.
  const stale = sqlite.prepare<[string, string, number], IndexedRow>(
    `SELECT seq, scope, key, content FROM memories WHERE cut_by < ? OR cut_by > ? LIMIT ?`,
  );
  const unchanged = sqlite.prepare('SELECT 1 FROM memories WHERE seq = ? AND key = ? AND content = ?');
  const countStale = sqlite.prepare('SELECT count(*) FROM memories WHERE cut_by < ? OR cut_by > ?').pluck();

  function put(row: IndexedRow, key: CutText, content: CutText, cutBy: string | null): void {
    remove.run(row.seq);
    insert.run(
      row.seq,
      scopeToken(row.scope),
      [...key.words, ...key.runWords].join(' '),
      [...content.words, ...content.runWords].join(' '),
      pairsOfRuns([...key.runs, ...content.runs]).join(' '),
    );
    setCut.run(cutBy, row.seq);
  }

  async function slice(isClosed: () => boolean): Promise<boolean> {
    const current = cutter.current();
    if (current === undefined) return false;
    const rows = stale.all(current, current, sliceSize);
    if (rows.length === 0) return false;
    const cut = await cutter.cut(
      rows.flatMap((row) => [row.key, row.content]),
      { wait: true },
    );
    if (!cut || isClosed()) return false;
    db.transaction(() => {
      rows.forEach((row, index) => {
        // Changed or forgotten while its words were looked up: the change has indexed it anew.
        if (unchanged.get(row.seq, row.key, row.content) === undefined) return;
        const [key, content] = [cut.texts[2 * index]!, cut.texts[2 * index + 1]!];
        put(row, key, content, cut.cutBy[2 * index] ?? cut.cutBy[2 * index + 1] ?? null);
      });
    });
    return true;
  }

  return {
    write(row) {
      const [key, content] = [cutter.cutPlainly(row.key), cutter.cutPlainly(row.content)];
      const isComplete = [...key.runs, ...content.runs].length === 0;
      put(row, key, content, isComplete ? null : '');
    },
    remove: (seq) => void remove.run(seq),
    background: createBackground({ slice, ...deps }),
    waiting() {
      const current = cutter.current() ?? '';
      return countStale.get(current, current) as number;
    },
  };
}

/** Stands for the scope in the index, so that a search reads the asker's rows only. The row itself has the last word. */
export function scopeToken(scope: string): string {
  return `s${createHash('sha256').update(scope).digest('hex').slice(0, 16)}`;
}

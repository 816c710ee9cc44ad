/** The tables `memories` and `memory_changes`: statements prepared once, rows as drizzle names them. */
import { getTableColumns, type Table } from 'drizzle-orm';
import type { Database } from '../storage/database.js';
import { memories, memoryChanges } from '../storage/schema.js';
import { type MemoryEntry, maxChangesPerEntry } from './memory-entry.js';
import { MemoryError } from './memory-error.js';
import type { Scope } from './scopes.js';

export type MemoryRow = typeof memories.$inferSelect;
export type MemoryChange = typeof memoryChanges.$inferSelect;

export interface MemoryTable {
  /** `seq` is given by the database. */
  insert(row: Omit<MemoryRow, 'seq'>): MemoryRow;
  /** Writes every column of the row that `seq` names. */
  update(row: MemoryRow): void;
  remove(seq: number): void;
  /** Whether or not an embedding model is configured now: the vector of an old text must not find the new one. */
  removeVector(seq: number): void;
  byId(id: string): MemoryRow | undefined;
  byKey(scope: Scope, key: string): MemoryRow | undefined;
  /** In no particular order. */
  bySeqs(seqs: readonly number[]): MemoryRow[];
  /** By id, else by key. Throws `MemoryError` `memory_ambiguous` for a key that several of the scopes hold. */
  find(reference: string, scopes: readonly Scope[]): MemoryRow | undefined;
  countIn(scope: Scope): number;
  /** The entry of a full scope that gives way first; never a lasting one. */
  leastValuable(scope: Scope): MemoryRow | undefined;
  /** Oldest first. */
  changesOf(id: string): MemoryChange[];
  addChange(change: Omit<MemoryChange, 'seq'>): void;
  /** Takes the contents out of the history and leaves that something changed. */
  clearChanges(id: string): void;
}

export function entryOf(row: MemoryRow): MemoryEntry {
  const { seq: _seq, cutBy: _cutBy, embeddedBy: _embeddedBy, scope, ...entry } = row;
  return { ...entry, scope: scope as Scope };
}

export function createMemoryTable({ sqlite }: Database): MemoryTable {
  const select = `SELECT ${columnsOf(memories).map(([property, name]) => `${name} AS ${property}`)} FROM memories`;
  const insert = sqlite.prepare(insertInto('memories', memories));
  const update = sqlite.prepare(
    `UPDATE memories SET ${writable(memories).map(([property, name]) => `${name} = @${property}`)} WHERE seq = @seq`,
  );
  const remove = sqlite.prepare('DELETE FROM memories WHERE seq = ?');
  const removeVector = sqlite.prepare('DELETE FROM memory_vectors WHERE seq = ?');
  const byId = sqlite.prepare<[string], MemoryRow>(`${select} WHERE id = ?`);
  const byKey = sqlite.prepare<[string, string], MemoryRow>(`${select} WHERE scope = ? AND key = ?`);
  const bySeqs = sqlite.prepare<[string], MemoryRow>(`${select} WHERE seq IN (SELECT value FROM json_each(?))`);
  // One parameter however many scopes: SQLite takes 32,766.
  const find = sqlite.prepare<{ reference: string; scopes: string }, MemoryRow>(
    `${select} WHERE scope IN (SELECT value FROM json_each(@scopes)) AND (id = @reference OR key = @reference) LIMIT 20`,
  );
  const countIn = sqlite.prepare('SELECT count(*) FROM memories WHERE scope = ?').pluck();
  const leastValuable = sqlite.prepare<[string], MemoryRow>(
    `${select} WHERE scope = ? AND tier <> 'system' AND (tier IN ('misc', 'daily') OR category = 'timeline')
     ORDER BY tier = 'misc' DESC, tier = 'daily' DESC, use_count, updated_at LIMIT 1`,
  );
  const changesOf = sqlite.prepare<[string], MemoryChange>(
    `SELECT ${columnsOf(memoryChanges).map(([property, name]) => `${name} AS ${property}`)} FROM memory_changes WHERE memory_id = ? ORDER BY seq`,
  );
  const addChange = sqlite.prepare(insertInto('memory_changes', memoryChanges));
  const trimChanges = sqlite.prepare(
    `DELETE FROM memory_changes WHERE memory_id = @id AND seq <= (
       SELECT seq FROM memory_changes WHERE memory_id = @id ORDER BY seq DESC LIMIT 1 OFFSET ${maxChangesPerEntry})`,
  );
  const clearChanges = sqlite.prepare('UPDATE memory_changes SET old_content = NULL WHERE memory_id = ?');

  return {
    insert(row) {
      const seq = Number(insert.run(row).lastInsertRowid);
      return { ...row, seq };
    },
    update: (row) => void update.run(row),
    remove: (seq) => void remove.run(seq),
    removeVector: (seq) => void removeVector.run(seq),
    byId: (id) => byId.get(id),
    byKey: (scope, key) => byKey.get(scope, key),
    bySeqs: (seqs) => bySeqs.all(JSON.stringify(seqs)),
    find(reference, scopes) {
      const rows = find.all({ reference, scopes: JSON.stringify(scopes) });
      const named = rows.find((row) => row.id === reference);
      if (named || rows.length < 2) return named ?? rows[0];
      const places = rows.map((row) => `${row.id} (${row.scope})`).join(', ');
      throw new MemoryError(
        'memory_ambiguous',
        `"${reference}" is there more than once: ${places}. Name one by its id.`,
        {
          details: rows.map(({ id, scope }) => ({ id, scope })),
        },
      );
    },
    countIn: (scope) => countIn.get(scope) as number,
    leastValuable: (scope) => leastValuable.get(scope),
    changesOf: (id) => changesOf.all(id),
    addChange(change) {
      addChange.run(change);
      if (change.oldContent !== null) trimChanges.run({ id: change.memoryId });
    },
    clearChanges: (id) => void clearChanges.run(id),
  };
}

/** Property and column name. */
function columnsOf(table: Table): [string, string][] {
  return Object.entries(getTableColumns(table)).map(([property, column]) => [property, column.name]);
}

function writable(table: Table): [string, string][] {
  return columnsOf(table).filter(([property]) => property !== 'seq');
}

function insertInto(name: string, table: Table): string {
  const columns = writable(table);
  return `INSERT INTO ${name} (${columns.map(([, column]) => column)}) VALUES (${columns.map(([property]) => `@${property}`)})`;
}

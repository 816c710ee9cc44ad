/** Rows of the table as entries, and finding them by id or key. */
import { and, eq, or, sql } from 'drizzle-orm';
import type { Database } from '../storage/database.js';
import { memories } from '../storage/schema.js';
import type { MemoryEntry } from './memory-entry.js';
import { MemoryError } from './memory-error.js';
import type { Scope } from './scopes.js';

export type MemoryRow = typeof memories.$inferSelect;

export function entryOf(row: MemoryRow): MemoryEntry {
  const { seq: _seq, cutBy: _cutBy, embeddedBy: _embeddedBy, scope, ...entry } = row;
  return { ...entry, scope: scope as Scope };
}

/** In no particular order. */
export function rowsOf({ orm }: Database, seqs: readonly number[]): MemoryRow[] {
  return orm.select().from(memories).where(isOneOf(memories.seq, seqs)).all();
}

/** By id, else by key. Throws `MemoryError` `memory_ambiguous` for a key that several of the scopes hold. */
export function findRow({ orm }: Database, reference: string, scopes: readonly Scope[]): MemoryRow | undefined {
  const rows = orm
    .select()
    .from(memories)
    .where(and(isOneOf(memories.scope, scopes), or(eq(memories.id, reference), eq(memories.key, reference))))
    .limit(20)
    .all();
  const byId = rows.find((row) => row.id === reference);
  if (byId || rows.length < 2) return byId ?? rows[0];
  const places = rows.map((row) => `${row.id} (${row.scope})`).join(', ');
  throw new MemoryError(
    'memory_ambiguous',
    `"${reference}" is there more than once: ${places}. Name one of these ids.`,
    {
      details: rows.map(({ id, scope }) => ({ id, scope })),
    },
  );
}

/** One parameter however long the list: SQLite takes 32,766. */
function isOneOf(column: typeof memories.seq | typeof memories.scope, values: readonly (number | string)[]) {
  return sql`${column} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`;
}

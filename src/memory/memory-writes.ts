/** Changing memories. Each change is one transaction over row, index, vectors and history, and names who made it. */
import { and, eq } from 'drizzle-orm';
import { memories, memoryChanges } from '../storage/schema.js';
import { startOfNextDay } from './days.js';
import { erase } from './erase.js';
import {
  type Category,
  type MemoryEntry,
  maxChangesPerEntry,
  maxPerScope,
  memoryFields,
  type Tier,
} from './memory-entry.js';
import { MemoryError } from './memory-error.js';
import { entryOf, findRow, type MemoryRow } from './memory-rows.js';
import type { MemoryParts } from './memory-store.js';
import type { Scope } from './scopes.js';
import { findSecret } from './secrets.js';

/** Who changes something, and where they may. */
export interface Writer {
  /** E.g. `telegram:42`, `consolidation`. */
  by: string;
  sessionId?: string;
  runId?: string;
  writable: readonly Scope[];
}

export interface NewMemory {
  scope: Scope;
  key: string;
  content: string;
  /** These three default to what the key already has, else to knowledge, important and 0.5. */
  category?: Category;
  tier?: Tier;
  importance?: number;
}

export interface StoreResult {
  entry: MemoryEntry;
  outcome: 'created' | 'replaced' | 'unchanged';
}

/** All throw `MemoryError`. */
export interface MemoryWrites {
  /** The same key in the same scope overwrites; the old content becomes history. Committed when it returns. */
  store(memory: NewMemory, writer: Writer): StoreResult;
  /** `reference` is an id or a key. */
  edit(reference: string, change: Partial<Omit<NewMemory, 'scope'>>, writer: Writer): MemoryEntry;
  /** Removes the row, its index entries, its vector and the contents in its history for good. */
  forget(reference: string, writer: Writer): void;
  /** Counts a use; a `misc` entry used often enough becomes `important`. */
  markUsed(entries: readonly MemoryEntry[]): void;
}

const dayMs = 86_400_000;
/** How long a `daily` entry outlives its day, and a `misc` entry its last change. */
export const dailyKeptDays = 7;
export const miscKeptDays = 3;
/** Uses that make a `misc` entry `important`. */
export const promotedAtUses = 3;

export function createMemoryWrites({ db, index, vectors, timeZone, now, newId }: MemoryParts): MemoryWrites {
  const { orm, sqlite } = db;
  const countIn = sqlite.prepare('SELECT count(*) FROM memories WHERE scope = ?').pluck();
  const leastValuable = sqlite.prepare<[string], MemoryRow>(
    `SELECT * FROM memories WHERE scope = ? AND tier <> 'system' AND (tier IN ('misc', 'daily') OR category = 'timeline')
     ORDER BY tier = 'misc' DESC, tier = 'daily' DESC, use_count, updated_at LIMIT 1`,
  );
  const trimHistory = sqlite.prepare(
    `DELETE FROM memory_changes WHERE memory_id = @id AND seq <= (
       SELECT seq FROM memory_changes WHERE memory_id = @id ORDER BY seq DESC LIMIT 1 OFFSET ${maxChangesPerEntry})`,
  );

  const record = (
    id: string,
    action: (typeof memoryChanges.$inferInsert)['action'],
    writer: Omit<Writer, 'writable'>,
    oldContent: string | null,
  ) => {
    orm
      .insert(memoryChanges)
      .values({ memoryId: id, at: now(), action, by: writer.by, runId: writer.runId ?? null, oldContent })
      .run();
    trimHistory.run({ id });
  };

  const wakeAll = () => {
    index.background.wake();
    vectors?.background.wake();
  };

  function expiryOf(tier: Tier, from: number): number | null {
    if (tier === 'misc') return from + miscKeptDays * dayMs;
    return tier === 'daily' ? startOfNextDay(from, timeZone) + dailyKeptDays * dayMs : null;
  }

  function insert(values: Omit<typeof memories.$inferInsert, 'seq'>, writer: Writer): MemoryRow {
    makeRoom(values.scope);
    const row = orm.insert(memories).values(values).returning().get();
    index.write({ ...row, scope: row.scope as Scope });
    record(row.id, 'create', writer, null);
    return row;
  }

  function makeRoom(scope: string): void {
    if ((countIn.get(scope) as number) < maxPerScope) return;
    const victim = leastValuable.get(scope);
    if (!victim) {
      throw new MemoryError(
        'memory_full',
        `${scope} already holds ${maxPerScope} lasting memories. Forget some that are no longer needed, then store this again.`,
      );
    }
    erase({ db, index, vectors }, victim, { action: 'expire', by: 'limit', at: now() });
  }

  function update(row: MemoryRow, change: Partial<MemoryRow>, action: 'replace' | 'edit', writer: Writer): MemoryRow {
    const isNewText = change.content !== undefined && change.content !== row.content;
    const isNewKey = change.key !== undefined && change.key !== row.key;
    const updated = orm
      .update(memories)
      .set({ ...change, ...((isNewText || isNewKey) && { embeddedBy: '' }) })
      .where(eq(memories.seq, row.seq))
      .returning()
      .get();
    if (isNewText || isNewKey) {
      index.write({ ...updated, scope: updated.scope as Scope });
      vectors?.remove(row.seq);
      record(row.id, action, writer, row.content);
    }
    return updated;
  }

  const markUsed = (entries: readonly MemoryEntry[]) => {
    if (entries.length === 0) return;
    db.transaction(() => {
      for (const { id } of entries) {
        const row = orm.select().from(memories).where(eq(memories.id, id)).get();
        if (!row) continue;
        const useCount = row.useCount + 1;
        const isPromoted = row.tier === 'misc' && useCount >= promotedAtUses;
        orm
          .update(memories)
          .set({ useCount, lastUsedAt: now(), ...(isPromoted && { tier: 'important', expiresAt: null }) })
          .where(eq(memories.seq, row.seq))
          .run();
        if (isPromoted) record(id, 'promote', { by: 'use' }, null);
      }
    });
  };

  return {
    markUsed,
    store(memory, writer) {
      const { scope } = memory;
      mayWrite(scope, writer);
      const fields = checked(memory);
      const at = now();
      const result = db.transaction((): StoreResult => {
        const known = orm
          .select()
          .from(memories)
          .where(and(eq(memories.scope, scope), eq(memories.key, fields.key)))
          .get();
        const tier = fields.tier ?? known?.tier ?? 'important';
        const values = {
          ...fields,
          tier,
          category: fields.category ?? known?.category ?? 'knowledge',
          importance: fields.importance ?? known?.importance ?? 0.5,
          sessionId: writer.sessionId ?? null,
          runId: writer.runId ?? null,
          changedBy: writer.by,
          updatedAt: at,
          expiresAt: expiryOf(tier, at),
        };
        if (!known) {
          const row = insert({ ...values, scope, id: newId('mem'), createdAt: at, cutBy: '' }, writer);
          return { entry: entryOf(row), outcome: 'created' };
        }
        const row = update(known, values, 'replace', writer);
        return { entry: entryOf(row), outcome: known.content === row.content ? 'unchanged' : 'replaced' };
      });
      wakeAll();
      return result;
    },
    edit(reference, change, writer) {
      const edited = db.transaction(() => {
        const row = found(reference, writer);
        const fields = checked({ ...row, ...change });
        const other = findRow(db, fields.key, [row.scope as Scope]);
        if (other && other.id !== row.id && other.key === fields.key) {
          throw new MemoryError(
            'memory_invalid',
            `Another memory in ${row.scope} has the key "${fields.key}". Choose another key.`,
          );
        }
        const at = now();
        const tier = fields.tier ?? row.tier;
        const expiresAt = tier === row.tier && tier !== 'misc' ? row.expiresAt : expiryOf(tier, at);
        const about = { runId: writer.runId ?? null, changedBy: writer.by, updatedAt: at, expiresAt };
        return update(row, { ...fields, ...about }, 'edit', writer);
      });
      wakeAll();
      return entryOf(edited);
    },
    forget(reference, writer) {
      const { by, runId } = writer;
      db.transaction(() =>
        erase({ db, index, vectors }, found(reference, writer), { action: 'forget', by, runId, at: now() }),
      );
    },
  };

  function found(reference: string, writer: Writer): MemoryRow {
    const row = findRow(db, reference, writer.writable);
    if (row) return row;
    throw new MemoryError(
      'memory_not_found',
      `There is no memory "${reference}" here. List or search the memories for its key.`,
    );
  }
}

function mayWrite(scope: Scope, { writable }: Writer): void {
  if (writable.includes(scope)) return;
  throw new MemoryError('memory_forbidden', `Not allowed to write to ${scope}. Choose one of: ${writable.join(', ')}.`);
}

function checked(memory: Omit<NewMemory, 'scope'>) {
  const parsed = memoryFields.safeParse(memory);
  if (!parsed.success) {
    const { message, path } = parsed.error.issues[0]!;
    throw new MemoryError('memory_invalid', `${path.join('.')}: ${message}`);
  }
  const fields = definedOf(parsed.data);
  const secret = findSecret(`${fields.key}: ${fields.content}`);
  if (secret === undefined) return fields;
  throw new MemoryError(
    'secret_refused',
    `This looks like a ${secret}, and secrets are never remembered. Store where it is kept instead, without the secret itself.`,
  );
}

type Defined<T> = { [Key in keyof T]: Exclude<T[Key], undefined> };

function definedOf<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}

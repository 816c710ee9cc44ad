/** Changing memories. Each change is one transaction over row, index, vectors and history, and names who made it. */
import { withoutUndefined } from '../protocol/without-undefined.js';
import { startOfNextDay } from './days.js';
import { erase } from './erase.js';
import { type Category, type MemoryEntry, maxPerScope, memoryFields, type Tier } from './memory-entry.js';
import { MemoryError } from './memory-error.js';
import { waits } from './memory-index.js';
import type { MemoryParts } from './memory-store.js';
import { entryOf, type MemoryChange, type MemoryRow } from './memory-table.js';
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
const created = { useCount: 0, lastUsedAt: null, cutBy: waits, embeddedBy: '' } as const;

export function createMemoryWrites(parts: MemoryParts): MemoryWrites {
  const { db, table, index, vectors, timeZone, now, newId } = parts;
  const record = (
    id: string,
    action: MemoryChange['action'],
    writer: Omit<Writer, 'writable'>,
    oldContent: string | null,
  ) => table.addChange({ memoryId: id, at: now(), action, by: writer.by, runId: writer.runId ?? null, oldContent });

  const wakeAll = () => {
    index.background.wake();
    vectors?.background.wake();
  };

  function expiryOf(tier: Tier, from: number): number | null {
    if (tier === 'misc') return from + miscKeptDays * dayMs;
    return tier === 'daily' ? startOfNextDay(from, timeZone) + dailyKeptDays * dayMs : null;
  }

  function insert(values: Omit<MemoryRow, 'seq'>, writer: Writer): MemoryRow {
    makeRoom(values.scope as Scope);
    const row = table.insert(values);
    record(row.id, 'create', writer, null);
    return row;
  }

  /** May be too high, so a full scope is counted again. */
  const sizes = new Map<Scope, number>();

  function makeRoom(scope: Scope): void {
    if (sizes.size > 10_000) sizes.clear();
    const size = sizes.get(scope) ?? table.countIn(scope);
    sizes.set(scope, size + 1);
    if (size < maxPerScope) return;
    const counted = table.countIn(scope);
    sizes.set(scope, counted + 1);
    if (counted < maxPerScope) return;
    const victim = table.leastValuable(scope);
    if (!victim) {
      throw new MemoryError(
        'memory_full',
        `${scope} already holds ${maxPerScope} lasting memories. Forget some that are no longer needed, then store this again.`,
      );
    }
    erase(parts, victim, { action: 'expire', by: 'limit', at: now() });
  }

  function update(row: MemoryRow, change: Partial<MemoryRow>, action: 'replace' | 'edit', writer: Writer): MemoryRow {
    const updated = { ...row, ...change };
    const isNewText = updated.content !== row.content || updated.key !== row.key;
    table.update(isNewText ? { ...updated, cutBy: waits, embeddedBy: '' } : updated);
    if (isNewText) {
      index.remove(row.seq);
      table.removeVector(row.seq);
      record(row.id, action, writer, row.content);
    }
    return updated;
  }

  const markUsed = (entries: readonly MemoryEntry[]) => {
    if (entries.length === 0) return;
    db.transaction(() => {
      for (const { id } of entries) {
        const row = table.byId(id);
        if (!row) continue;
        const useCount = row.useCount + 1;
        const isPromoted = row.tier === 'misc' && useCount >= promotedAtUses;
        const promotion = isPromoted ? ({ tier: 'important', expiresAt: null } as const) : {};
        table.update({ ...row, useCount, lastUsedAt: now(), ...promotion });
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
        const known = table.byKey(scope, fields.key);
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
          const row = insert({ ...created, ...values, id: newId('mem'), scope, createdAt: at }, writer);
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
        const other = table.byKey(row.scope as Scope, fields.key);
        if (other && other.id !== row.id) {
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
      db.transaction(() => erase(parts, found(reference, writer), { action: 'forget', by, runId, at: now() }));
    },
  };

  function found(reference: string, writer: Writer): MemoryRow {
    const row = table.find(reference, writer.writable);
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
  const fields = withoutUndefined(parsed.data);
  const secret = findSecret(`${fields.key}: ${fields.content}`);
  if (secret === undefined) return fields;
  throw new MemoryError(
    'secret_refused',
    `This looks like a ${secret}, and secrets are never remembered. Store where it is kept instead, without the secret itself.`,
  );
}

/** Takes a memory out of the file for good: row, index, vector, earlier contents. What remains is that it was done, when and by whom. */
import type { MemoryParts } from './memory-store.js';
import type { MemoryRow } from './memory-table.js';

export interface Erasure {
  action: 'forget' | 'expire';
  by: string;
  runId?: string | undefined;
  at: number;
}

/** Inside the caller's transaction. */
export function erase(
  { table, index }: Pick<MemoryParts, 'table' | 'index'>,
  { seq, id }: Pick<MemoryRow, 'seq' | 'id'>,
  { action, by, runId, at }: Erasure,
): void {
  index.remove(seq);
  table.clearChanges(id);
  // Its vector goes with it.
  table.remove(seq);
  table.addChange({ memoryId: id, at, action, by, runId: runId ?? null, oldContent: null });
}

/** Takes a memory out of the file for good: row, index, vector, earlier contents. What remains is that it was done, when and by whom. */
import { eq } from 'drizzle-orm';
import type { Database } from '../storage/database.js';
import { memories, memoryChanges } from '../storage/schema.js';
import type { MemoryIndex } from './memory-index.js';
import type { MemoryRow } from './memory-rows.js';
import type { MemoryVectors } from './memory-vectors.js';

export interface EraseParts {
  db: Database;
  index: MemoryIndex;
  vectors: MemoryVectors | undefined;
}

/** Inside the caller's transaction. */
export function erase(
  { db, index, vectors }: EraseParts,
  row: Pick<MemoryRow, 'seq' | 'id'>,
  why: { action: 'forget' | 'expire'; by: string; runId?: string | undefined; at: number },
): void {
  const { orm } = db;
  index.remove(row.seq);
  vectors?.remove(row.seq);
  orm.update(memoryChanges).set({ oldContent: null }).where(eq(memoryChanges.memoryId, row.id)).run();
  orm.delete(memories).where(eq(memories.seq, row.seq)).run();
  orm
    .insert(memoryChanges)
    .values({
      memoryId: row.id,
      at: why.at,
      action: why.action,
      by: why.by,
      runId: why.runId ?? null,
      oldContent: null,
    })
    .run();
}

/** Memories as a file: out and in again. */
import { type ExportFile, exportFile } from './memory-entry.js';
import { MemoryError } from './memory-error.js';
import { rowFilter } from './memory-filter.js';
import type { MemoryParts } from './memory-store.js';
import { entryOf } from './memory-table.js';
import type { MemoryWrites, Writer } from './memory-writes.js';
import { parseScope, type Scope } from './scopes.js';

export interface ImportResult {
  stored: number;
  refused: { key: string; reason: string }[];
}

export interface MemoryFiles {
  /** Everything in the scopes, expired entries left out. */
  exportMemories(scopes: readonly Scope[]): ExportFile;
  /**
   * What an export gave, into its own scopes or all into `scope`. Entries that are refused are named, the rest is taken.
   * Throws `MemoryError` `memory_invalid` for anything that is not an export.
   */
  importMemories(file: unknown, writer: Writer, options?: { scope?: Scope }): ImportResult;
}

const dayMs = 86_400_000;

export function createMemoryFiles(
  { db, table, config, now }: MemoryParts,
  { store }: Pick<MemoryWrites, 'store'>,
): MemoryFiles {
  return {
    exportMemories(scopes) {
      const { where, parameters } = rowFilter({ scopes }, now(), now() - config.timelineDays * dayMs);
      const seqs = db.sqlite.prepare(`SELECT m.seq FROM memories m WHERE ${where}`).pluck().all(parameters) as number[];
      const entries = table.bySeqs(seqs).map(entryOf);
      const fields = entries.map(({ id: _id, runId: _runId, changedBy: _changedBy, ...rest }) => rest);
      return { format: 'picobot-memories', version: 1, memories: fields };
    },
    importMemories(file, writer, { scope } = {}) {
      const parsed = exportFile.safeParse(file);
      if (!parsed.success) {
        const { message, path } = parsed.error.issues[0]!;
        const place = path.join('.') || 'the file';
        throw new MemoryError('memory_invalid', `This is not an export of memories. At ${place}: ${message}.`);
      }
      const result: ImportResult = { stored: 0, refused: [] };
      for (const memory of parsed.data.memories) {
        const { createdAt, updatedAt, useCount, lastUsedAt, expiresAt, sessionId } = memory;
        const { key, content, category, tier, importance } = memory;
        try {
          db.transaction(() => {
            const fields = { key, content, category, tier, importance, scope: scope ?? parseScope(memory.scope) };
            const { id } = store(fields, writer).entry;
            const past = { createdAt, updatedAt, useCount, lastUsedAt, expiresAt, sessionId };
            table.update({ ...table.byId(id)!, ...past });
          });
          result.stored += 1;
        } catch (error) {
          if (!(error instanceof MemoryError)) throw error;
          result.refused.push({ key, reason: error.message });
        }
      }
      return result;
    },
  };
}

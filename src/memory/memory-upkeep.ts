/** What keeps the memory small: expiry, and the figures that show it. */
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Database } from '../storage/database.js';
import { erase } from './erase.js';
import { maxPerScope } from './memory-entry.js';
import type { MemoryParts } from './memory-store.js';

export interface MemoryStats {
  memories: number;
  byTier: Record<string, number>;
  byCategory: Record<string, number>;
  scopes: number;
  /** The fullest scope, against `maxPerScope`. */
  largestScope: number;
  maxPerScope: number;
  changes: number;
  vectors: number;
  /** Entries whose words are still to be cut by the segmenter; they are found by pairs of characters. */
  waitingForSegmenter: number;
  engine: string;
}

export interface MemoryUpkeep {
  /** Removes what has expired, a few entries at a time, and the traces of long forgotten ones. Returns how many entries went. */
  cleanUp(): Promise<number>;
  stats(): MemoryStats;
}

/** Taking an entry out of the index for good costs 1 to 3 ms. */
const erasedAtOnce = 4;
const dayMs = 86_400_000;
/** The bare fact that something was forgotten is kept this long. */
const forgottenKeptDays = 365;

export function createMemoryUpkeep(parts: MemoryParts): MemoryUpkeep {
  const { db, index, cutter, config, now } = parts;
  const expired = db.sqlite.prepare<{ at: number; timelineSince: number; limit: number }, { seq: number; id: string }>(
    `SELECT seq, id FROM memories WHERE expires_at <= @at
     UNION SELECT seq, id FROM memories WHERE category = 'timeline' AND updated_at < @timelineSince LIMIT @limit`,
  );
  const forgetOld = db.sqlite.prepare(
    `DELETE FROM memory_changes WHERE at < ? AND NOT EXISTS (SELECT 1 FROM memories WHERE id = memory_id)`,
  );
  return {
    async cleanUp() {
      const at = now();
      const timelineSince = at - config.timelineDays * dayMs;
      forgetOld.run(at - forgottenKeptDays * dayMs);
      let count = 0;
      for (;;) {
        const rows = expired.all({ at, timelineSince, limit: erasedAtOnce });
        db.transaction(() => {
          for (const row of rows) erase(parts, row, { action: 'expire', by: 'clean-up', at });
        });
        count += rows.length;
        if (rows.length < erasedAtOnce) return count;
        await nextTick();
      }
    },
    stats() {
      const scopes = db.sqlite
        .prepare(
          'SELECT count(*) AS scopes, coalesce(max(size), 0) AS largestScope FROM (SELECT count(*) AS size FROM memories GROUP BY scope)',
        )
        .get() as { scopes: number; largestScope: number };
      return {
        memories: count(db, 'memories'),
        byTier: countBy(db, 'tier'),
        byCategory: countBy(db, 'category'),
        ...scopes,
        maxPerScope,
        changes: count(db, 'memory_changes'),
        vectors: count(db, 'memory_vectors'),
        waitingForSegmenter: index.waiting(),
        engine: cutter.current() ?? 'none, pairs of characters only',
      };
    },
  };
}

function count({ sqlite }: Database, table: 'memories' | 'memory_changes' | 'memory_vectors'): number {
  return sqlite.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
}

function countBy({ sqlite }: Database, column: 'tier' | 'category'): Record<string, number> {
  const rows = sqlite.prepare(`SELECT ${column}, count(*) FROM memories GROUP BY 1`).raw().all() as [string, number][];
  return Object.fromEntries(rows);
}

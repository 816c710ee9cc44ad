/**
 * Keeps a full-text index in few pieces, a few pages at a time. SQLite's own merging would block for as long as it takes,
 * and a search in many pieces takes about twice as long as in one.
 */
import type { Database } from '../storage/database.js';

export interface IndexMerger {
  /** Joins pieces of one size once there are four of them. False: nothing to join. Call it between two slices of writing. */
  step(): boolean;
  /** For idle times: makes one piece of all, once the smaller ones hold enough to be worth it. False: nothing to do. */
  compactStep(): boolean;
}

/** About 3 ms of work. */
const pagesPerStep = 24;
/** Rewriting everything is worth it when the largest piece holds less than this share. */
const largestShare = 0.85;

export function createIndexMerger(
  { sqlite, transaction }: Database,
  index: 'memory_index' | 'transcript_index',
): IndexMerger {
  const merge = sqlite.prepare(`INSERT INTO ${index} (${index}, rank) VALUES ('merge', ?)`);
  const changes = sqlite.prepare('SELECT total_changes()').pluck();
  const sizes = sqlite.prepare(`SELECT count(*) FROM ${index}_idx GROUP BY segid`).pluck();
  let isCompacting = false;

  const run = (pages: number): boolean => {
    const before = changes.get() as number;
    transaction(() => merge.run(pages));
    return (changes.get() as number) - before > 1;
  };
  const isWorthwhile = () => {
    const pieces = sizes.all() as number[];
    const all = pieces.reduce((sum, size) => sum + size, 0);
    return pieces.length > 2 && Math.max(...pieces) < all * largestShare;
  };

  return {
    step: () => run(pagesPerStep),
    compactStep() {
      if (isCompacting) isCompacting = run(pagesPerStep);
      // A negative number starts to join everything; steps with a positive one go on.
      else if (isWorthwhile()) isCompacting = run(-pagesPerStep);
      return isCompacting;
    },
  };
}

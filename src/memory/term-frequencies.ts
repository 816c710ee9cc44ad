/** How many rows of an index hold a term, counted up to a bound and remembered for a while. */
import type { Database } from '../storage/database.js';

export interface TermFrequencies {
  /** Rows that match the expression; `countedTo` means that many or more. */
  of(match: string): number;
}

const maxRemembered = 5000;
const rememberedMs = 600_000;

export function createTermFrequencies(
  { sqlite }: Database,
  index: 'memory_index' | 'transcript_index',
  countedTo: number,
  now: () => number,
): TermFrequencies {
  const count = sqlite
    .prepare(`SELECT count(*) FROM (SELECT 1 FROM ${index} WHERE ${index} MATCH ? LIMIT ${countedTo})`)
    .pluck();
  let known = new Map<string, number>();
  let since = now();
  return {
    of(match) {
      if (known.size >= maxRemembered || now() - since > rememberedMs) {
        known = new Map();
        since = now();
      }
      const frequency = known.get(match) ?? (count.get(match) as number);
      known.set(match, frequency);
      return frequency;
    },
  };
}

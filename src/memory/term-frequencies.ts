/** How many rows of an index hold a term, counted up to a bound. */
import type { Database } from '../storage/database.js';

export interface TermFrequencies {
  /** Rows that match the expression; the bound means that many or more. */
  of(match: string): number;
}

const maxRemembered = 5000;

export function createTermFrequencies(
  { sqlite }: Database,
  index: 'memory_index' | 'transcript_index',
  countedTo: number,
): TermFrequencies {
  const count = sqlite
    .prepare(`SELECT count(*) FROM (SELECT 1 FROM ${index} WHERE ${index} MATCH ? LIMIT ${countedTo})`)
    .pluck();
  /** What is frequent stays so; and it is what takes long to count. A rare term may be in the next message. */
  const frequent = new Set<string>();
  return {
    of(match) {
      if (frequent.has(match)) return countedTo;
      const frequency = count.get(match) as number;
      if (frequency < countedTo) return frequency;
      if (frequent.size >= maxRemembered) frequent.clear();
      frequent.add(match);
      return frequency;
    },
  };
}

/** Orders what was found: relevance first, then importance, recency and use; the same thing said twice counts once. */
import type { ScoredMemory } from './memory-entry.js';
import type { Match } from './memory-search.js';
import { entryOf, type MemoryRow } from './memory-table.js';
import { type Fingerprint, fingerprintOf, isNearDuplicate } from './near-duplicates.js';

const halfLifeMs = 90 * 86_400_000;
/** The usual constant of reciprocal rank fusion: how little the first places differ. */
const fusionConstant = 60;

/** `byWords` and `byMeaning` best first. Without vectors the relevance itself counts, else the places in both lists. */
export function relevances(byWords: readonly Match[], byMeaning: readonly number[]): Map<number, number> {
  if (byMeaning.length === 0) return new Map(byWords.map(({ seq, relevance }) => [seq, relevance]));
  const fused = new Map<number, number>();
  for (const list of [byWords.map(({ seq }) => seq), byMeaning]) {
    list.forEach((seq, place) => void fused.set(seq, (fused.get(seq) ?? 0) + 1 / (fusionConstant + place + 1)));
  }
  return fused;
}

/** Factor near 1: an important, fresh, often used memory beats an equal one, never a clearly better match. */
export function priorOf(entry: Pick<MemoryRow, 'importance' | 'updatedAt' | 'useCount'>, now: number): number {
  const importance = 0.9 + 0.2 * entry.importance;
  const recency = 0.95 + 0.1 * 0.5 ** (Math.max(0, now - entry.updatedAt) / halfLifeMs);
  const use = 1 + 0.02 * Math.min(5, Math.log2(1 + entry.useCount));
  return importance * recency * use;
}

/** `rows` in any order; at most `limit` come back, best first. */
export function rank(
  rows: readonly MemoryRow[],
  relevance: ReadonlyMap<number, number>,
  now: number,
  limit: number,
): ScoredMemory[] {
  const scored = rows
    .map((row) => ({ ...entryOf(row), score: (relevance.get(row.seq) ?? 0) * priorOf(row, now) }))
    .sort((a, b) => b.score - a.score || b.updatedAt - a.updatedAt);
  const kept: ScoredMemory[] = [];
  const fingerprints: Fingerprint[] = [];
  for (const entry of scored) {
    if (kept.length >= limit) break;
    const fingerprint = fingerprintOf(entry.content);
    if (fingerprints.some((other) => isNearDuplicate(fingerprint, other))) continue;
    kept.push(entry);
    fingerprints.push(fingerprint);
  }
  return kept;
}

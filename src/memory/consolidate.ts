/**
 * From candidates (facts that a model proposed from a stretch of dialog) to memories: what is unsure, secret, known or
 * older than what is stored is left out; a contradiction replaces the old content, which stays as history.
 */
import { eq } from 'drizzle-orm';
import type { Database } from '../storage/database.js';
import { consolidations } from '../storage/schema.js';
import type { Category, MemoryEntry, Tier } from './memory-entry.js';
import { MemoryError } from './memory-error.js';
import type { MemoryStore } from './memory-store.js';
import type { Writer } from './memory-writes.js';
import { fingerprintOf, isNearDuplicate } from './near-duplicates.js';
import type { Scope } from './scopes.js';
import { findSecret } from './secrets.js';

export interface Candidate {
  scope: Scope;
  key: string;
  content: string;
  category?: Category;
  tier?: Tier;
  importance?: number;
  /** 0 to 1, as the model judges it. */
  confidence: number;
  /** When it was said, ms since the epoch. */
  observedAt: number;
  /** Key of a memory that this one contradicts, where it is not its own. */
  replaces?: string;
}

export type SkipReason = 'unsure' | 'secret' | 'known' | 'older' | 'duplicate' | 'refused';

export interface ConsolidationPlan {
  /** `key` is that of the memory it replaces, if any. */
  store: Candidate[];
  skipped: { candidate: Candidate; reason: SkipReason }[];
}

export interface ConsolidationOptions {
  /** Default 0.6. */
  minConfidence?: number;
}

/** Pure. `existing`: what the candidates' scopes hold now. */
export function consolidate(
  candidates: readonly Candidate[],
  existing: readonly MemoryEntry[],
  { minConfidence = 0.6 }: ConsolidationOptions = {},
): ConsolidationPlan {
  const plan: ConsolidationPlan = { store: [], skipped: [] };
  const newestFirst = [...candidates].sort((a, b) => b.observedAt - a.observedAt || b.confidence - a.confidence);
  for (const candidate of newestFirst) {
    const reason = reasonToSkip(candidate, plan.store, existing, minConfidence);
    if (reason) plan.skipped.push({ candidate, reason });
    else plan.store.push({ ...candidate, key: targetKey(candidate, existing) });
  }
  return plan;
}

function reasonToSkip(
  candidate: Candidate,
  taken: readonly Candidate[],
  existing: readonly MemoryEntry[],
  minConfidence: number,
): SkipReason | undefined {
  if (candidate.confidence < minConfidence) return 'unsure';
  if (findSecret(`${candidate.key}: ${candidate.content}`)) return 'secret';
  const fingerprint = fingerprintOf(candidate.content);
  const saysTheSame = (other: { scope: Scope; content: string }) =>
    other.scope === candidate.scope && isNearDuplicate(fingerprint, fingerprintOf(other.content));
  if (existing.some(saysTheSame)) return 'known';
  const key = targetKey(candidate, existing);
  // The newest comes first, so whatever has the key already is newer.
  if (taken.some((other) => saysTheSame(other) || (other.scope === candidate.scope && other.key === key)))
    return 'duplicate';
  const target = existing.find((entry) => entry.scope === candidate.scope && entry.key === key);
  return target && target.updatedAt > candidate.observedAt ? 'older' : undefined;
}

function targetKey({ scope, key, replaces }: Candidate, existing: readonly MemoryEntry[]): string {
  const isThere = existing.some((entry) => entry.scope === scope && entry.key === replaces);
  return replaces !== undefined && isThere ? replaces : key;
}

/** Entries compared with each candidate. */
const similarCount = 20;

export interface Consolidator {
  /** The last event of the session that was consolidated; 0 for none. */
  consolidatedTo(sessionId: string): number;
  /**
   * Stores what is worth it, and notes that the session is consolidated up to event `to`, in one transaction.
   * Undefined: the part from `from` (the `consolidatedTo` it was read at) was consolidated meanwhile, nothing was done.
   * What was stored while the model thought is compared with as it is now, so it survives.
   */
  apply(
    part: { sessionId: string; from: number; to: number },
    candidates: readonly Candidate[],
    writer: Writer,
    options?: ConsolidationOptions,
  ): ConsolidationPlan | undefined;
}

export function createConsolidator(
  db: Database,
  store: Pick<MemoryStore, 'similar' | 'get' | 'store'>,
  now: () => number,
): Consolidator {
  const { orm } = db;
  const consolidatedTo = (sessionId: string) =>
    orm.select().from(consolidations).where(eq(consolidations.sessionId, sessionId)).get()?.eventId ?? 0;
  /** What the candidate can contradict or repeat. */
  const relatedTo = ({ scope, key, content, replaces }: Candidate): MemoryEntry[] => [
    ...store.similar(content, [scope], similarCount),
    ...[key, replaces ?? key].flatMap((name) => store.get(name, [scope]) ?? []),
  ];
  return {
    consolidatedTo,
    apply({ sessionId, from, to }, candidates, writer, options) {
      return db.transaction(() => {
        if (consolidatedTo(sessionId) !== from || to < from) return undefined;
        const plan = consolidate(candidates, candidates.flatMap(relatedTo), options);
        const stored: Candidate[] = [];
        for (const candidate of plan.store) {
          try {
            const { scope, key, content, category, tier, importance } = candidate;
            const optional = {
              ...(category && { category }),
              ...(tier && { tier }),
              ...(importance !== undefined && { importance }),
            };
            store.store({ scope, key, content, ...optional }, { ...writer, sessionId });
            stored.push(candidate);
          } catch (error) {
            if (!(error instanceof MemoryError)) throw error;
            plan.skipped.push({ candidate, reason: 'refused' });
          }
        }
        orm
          .insert(consolidations)
          .values({ sessionId, eventId: to, at: now() })
          .onConflictDoUpdate({ target: consolidations.sessionId, set: { eventId: to, at: now() } })
          .run();
        return { ...plan, store: stored };
      });
    },
  };
}

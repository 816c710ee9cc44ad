/** When a conversation is too large, and how small it is to become. */

export interface ContextLimits {
  /** Tokens of request and answer together. */
  contextWindow: number;
  /** Share of the window at which the conversation is compacted. */
  compactAt: number;
  /** Share of the window that even a conversation which cannot be summarised any further must not pass. */
  hardTrimAt: number;
}

/**
 * `size`: the request is about to be too large. `overflow`: the platform refused it as too large.
 * `request`: a person wants it, whatever the size.
 */
export type CompactionReason = 'size' | 'overflow' | 'request';

/** `tokens`: of the next request, as the meter says. */
export function shouldCompact(tokens: number, { contextWindow, compactAt }: ContextLimits): boolean {
  return tokens > contextWindow * compactAt;
}

/** In tokens. */
export interface CompactionGoals {
  /** Where shortening ends, well below what starts it, so that not each turn compacts again. */
  target: number;
  /** Trimming that comes down to it is enough. Above it recent turns are shortened, too. */
  comfortable: number;
  /** Above it turns are left out. */
  hardLimit: number;
  /** A conversation that is larger than this in the end is given up. */
  acceptable: number;
  /** What a compaction below `hardLimit` must take away to be worth the broken prompt cache. */
  minGain: number;
}

/** `tokens`: of the request now. After an overflow the window is smaller than we thought, or the estimate too low. */
export function compactionGoals(
  tokens: number,
  reason: CompactionReason,
  { contextWindow, compactAt, hardTrimAt, target }: ContextLimits & { target?: number | undefined },
): CompactionGoals {
  const known = reason === 'overflow' ? tokens : Number.POSITIVE_INFINITY;
  const limit = Math.min(contextWindow * compactAt, known * 0.6);
  const hardLimit = Math.max(limit, Math.min(contextWindow * hardTrimAt, known * 0.75));
  const goal = Math.min(target ?? limit * 0.6, limit);
  return {
    target: goal,
    comfortable: (goal + limit) / 2,
    hardLimit,
    acceptable: reason === 'overflow' ? tokens * 0.9 : hardLimit,
    minGain: reason === 'size' ? contextWindow * 0.15 : 1,
  };
}

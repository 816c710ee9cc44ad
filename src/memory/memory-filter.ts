/** Which rows an asker may see and wants to see, as SQL. The only place where scope and expiry are turned into a condition. */
import type { Category, Tier } from './memory-entry.js';
import type { RowFilter } from './memory-vectors.js';
import type { Scope } from './scopes.js';

export interface MemoryFilter {
  /** Nothing outside these is ever returned. */
  scopes: readonly Scope[];
  category?: Category;
  tier?: Tier;
  /** Time of the last change, ms since the epoch, both inclusive. */
  since?: number;
  until?: number;
  sessionId?: string;
}

/** `timelineSince`: timeline entries last changed before it have expired. */
export function rowFilter(filter: MemoryFilter, now: number, timelineSince: number): RowFilter {
  const conditions: [string, Record<string, string | number>][] = [
    ['m.scope IN (SELECT value FROM json_each(@scopes))', { scopes: JSON.stringify(filter.scopes) }],
    ['(m.expires_at IS NULL OR m.expires_at > @now)', { now }],
    ["(m.category <> 'timeline' OR m.updated_at >= @timelineSince)", { timelineSince }],
  ];
  const { category, tier, since, until, sessionId } = filter;
  if (category !== undefined) conditions.push(['m.category = @category', { category }]);
  if (tier !== undefined) conditions.push(['m.tier = @tier', { tier }]);
  if (since !== undefined) conditions.push(['m.updated_at >= @since', { since }]);
  if (until !== undefined) conditions.push(['m.updated_at <= @until', { until }]);
  if (sessionId !== undefined) conditions.push(['m.session_id = @sessionId', { sessionId }]);
  return {
    where: conditions.map(([sql]) => sql).join(' AND '),
    parameters: Object.assign({}, ...conditions.map(([, parameters]) => parameters)),
  };
}

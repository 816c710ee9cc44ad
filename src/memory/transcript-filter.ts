/** Which messages an asker may and wants to see, as SQL over `events e`. */

export type TranscriptRole = 'user' | 'assistant';

export interface TranscriptQuery {
  /** Nothing outside these sessions is returned. Absent: all that are not deleted, which is for owners only. */
  sessionKeys?: readonly number[];
  role?: TranscriptRole;
  /** 1 to 100, default 20. */
  limit?: number;
  /** ms since the epoch, both exclusive. */
  before?: number;
  after?: number;
  /** Newest first instead of best first; an empty query then lists the newest messages. */
  recent?: boolean;
}

export interface TranscriptFilter {
  where: string;
  parameters: Record<string, string | number>;
  sessionKeys: readonly number[] | undefined;
}

export function transcriptFilter({ sessionKeys, role, before, after }: TranscriptQuery): TranscriptFilter {
  const list: [string, Record<string, string | number>][] = [
    sessionKeys
      ? ['e.session_key IN (SELECT value FROM json_each(@sessions))', { sessions: JSON.stringify(sessionKeys) }]
      : ['NOT EXISTS (SELECT 1 FROM sessions s WHERE s.key = e.session_key AND s.deleted_at IS NOT NULL)', {}],
    role ? ['e.type = @type', { type: `${role}-message` }] : ["e.type IN ('user-message', 'assistant-message')", {}],
  ];
  if (before !== undefined) list.push(['e.at < @before', { before }]);
  if (after !== undefined) list.push(['e.at > @after', { after }]);
  return {
    where: list.map(([sql]) => sql).join(' AND '),
    parameters: Object.assign({}, ...list.map(([, parameters]) => parameters)) as Record<string, string | number>,
    sessionKeys,
  };
}

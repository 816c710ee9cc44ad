/** Full-text search over what was said, within what the asker may see. */
import type { SearchHit, SearchQuery } from '../protocol/control.js';
import type { SessionId } from '../protocol/ids.js';
import type { SessionStore } from './session-store.js';
import type { Transcript } from './transcript.js';

/** The index, as far as it is needed here. */
export interface TranscriptSearch {
  search(
    query: string,
    options: {
      sessionKeys?: readonly number[];
      role?: 'user' | 'assistant';
      limit?: number;
      before?: number;
      after?: number;
      recent?: boolean;
    },
  ): Promise<
    { sessionKey: number; eventId: number; runId: string; role: 'user' | 'assistant'; at: number; snippet: string }[]
  >;
}

export type SessionSearch = (query: string, options: SearchQuery) => Promise<SearchHit[]>;

/** Without `within` every dialog that is not deleted is searched: for owners only. */
export function createSessionSearch(
  index: TranscriptSearch,
  sessions: SessionStore,
  transcript: Transcript,
): SessionSearch {
  return async (query, { within, ...options }) => {
    const keys = within === undefined ? undefined : sessions.keysOf(within);
    const hits = await index.search(query, keys === undefined ? options : { ...options, sessionKeys: keys });
    const rows = new Map(hits.map(({ sessionKey }) => [sessionKey, sessions.findByKey(sessionKey)]));
    return hits.flatMap(({ sessionKey, eventId, ...hit }) => {
      const row = rows.get(sessionKey);
      if (!row) return [];
      const [event] = transcript.read({ key: sessionKey, id: row.id as SessionId }, eventId - 1, 1);
      const messageId = event?.type === 'user-message' ? event.messageId : String(eventId);
      const parent = row.parentId === null ? {} : { parentId: row.parentId as SessionId };
      return [{ sessionId: row.id, title: row.title, messageId, eventId, ...parent, ...hit }];
    });
  };
}

/**
 * The append-only event stream of every session, in storage. Deltas are not stored: the
 * `assistant-message` that ends them keeps their ids and lengths, so that replay is exact.
 */
import { and, asc, desc, eq, gt, inArray, lt, sql } from 'drizzle-orm';
import type { AgentEvent, Audience, EventOf, EventType } from '../protocol/events.js';
import type { SessionId } from '../protocol/ids.js';
import type { Database } from '../storage/database.js';
import { events } from '../storage/schema.js';

export interface Transcript {
  /** Call inside a transaction. Returns the row's key. */
  append(sessionKey: number, event: AgentEvent): number;
  /** 0 for a session without events. */
  lastEventId(sessionKey: number): number;
  /** All events with an id above `after`, oldest first, at most `limit`. */
  read(session: SessionReference, after: number, limit: number): AgentEvent[];
  /** What the model sees, oldest first, from event `from` on. */
  readForModel(session: SessionReference, from: number): AgentEvent[];
  /** The events of these types before event id `before`, newest first, at most `limit`. */
  readBackwards(session: SessionReference, types: EventType[], before: number, limit: number): AgentEvent[];
  /** The newest result of that call, in full. */
  readToolResult(sessionKey: number, callId: string): string | undefined;
  readRun(session: SessionReference, runId: string): AgentEvent[];
}

export interface SessionReference {
  key: number;
  id: SessionId;
}

const audiences: Partial<Record<EventType, Audience>> = {
  'user-message': 'both',
  'assistant-message': 'both',
  'tool-call': 'both',
  'tool-result': 'both',
  compaction: 'both',
  command: 'people',
  notice: 'people',
  'permission-request': 'people',
  question: 'people',
  'run-end': 'people',
};

export function createTranscript(db: Database): Transcript {
  const { orm } = db;
  const insert = orm
    .insert(events)
    .values({
      sessionKey: sql.placeholder('sessionKey'),
      id: sql.placeholder('id'),
      runId: sql.placeholder('runId'),
      turn: sql.placeholder('turn'),
      type: sql.placeholder('type'),
      audience: sql.placeholder('audience'),
      body: sql.placeholder('body'),
      at: sql.placeholder('at'),
    })
    .prepare();
  const last = orm
    .select({ id: sql<number | null>`max(${events.id})` })
    .from(events)
    .where(eq(events.sessionKey, sql.placeholder('sessionKey')))
    .prepare();
  const of = (session: SessionReference) => eq(events.sessionKey, session.key);
  const decodeAll = (session: SessionReference, rows: (typeof events.$inferSelect)[]) =>
    rows.map((row) => decode(row, session.id));

  return {
    append(sessionKey, event) {
      const { type, id, sessionId: _session, runId, turn, at, ...body } = event;
      const audience = audiences[type] ?? 'nobody';
      const result = insert.run({ sessionKey, id, runId, turn, type, audience, body: JSON.stringify(body), at });
      return Number(result.lastInsertRowid);
    },
    lastEventId: (sessionKey) => last.get({ sessionKey })?.id ?? 0,
    read(session, after, limit) {
      const rows = orm
        .select()
        .from(events)
        .where(and(of(session), gt(events.id, after)))
        .orderBy(asc(events.id))
        .limit(limit)
        .all();
      return decodeAll(session, rows).flatMap<AgentEvent>((event) =>
        event.type === 'assistant-message' ? [...restOfDeltas(event, after), event] : [event],
      );
    },
    readForModel(session, from) {
      const rows = orm
        .select()
        .from(events)
        .where(and(of(session), gt(events.id, from - 1), inArray(events.audience, ['model', 'both'])))
        .orderBy(asc(events.id))
        .all();
      return decodeAll(session, rows);
    },
    readBackwards(session, types, before, limit) {
      const rows = orm
        .select()
        .from(events)
        .where(and(of(session), lt(events.id, before), inArray(events.type, types)))
        .orderBy(desc(events.id))
        .limit(limit)
        .all();
      return decodeAll(session, rows);
    },
    readToolResult(sessionKey, callId) {
      const row = orm
        .select({ output: sql<string>`json_extract(${events.body}, '$.output')` })
        .from(events)
        .where(
          and(
            eq(events.sessionKey, sessionKey),
            eq(events.type, 'tool-result'),
            sql`json_extract(${events.body}, '$.callId') = ${callId}`,
          ),
        )
        .orderBy(desc(events.id))
        .limit(1)
        .get();
      return row?.output;
    },
    readRun(session, runId) {
      const rows = orm
        .select()
        .from(events)
        .where(and(of(session), eq(events.runId, runId)))
        .orderBy(asc(events.id))
        .all();
      return decodeAll(session, rows);
    },
  };
}

/** The text that a client which stopped at event `after` has not seen, as one delta with the last delta's id. */
export function restOfDeltas(message: EventOf<'assistant-message'>, after: number): EventOf<'text-delta'>[] {
  const lastDelta = message.deltas.at(-1);
  if (!lastDelta || lastDelta[0] <= after) return [];
  const seen = message.deltas.reduce((length, [id, size]) => (id <= after ? length + size : length), 0);
  const { sessionId, runId, turn, at, step } = message;
  return [{ type: 'text-delta', id: lastDelta[0], sessionId, runId, turn, at, step, text: message.text.slice(seen) }];
}

function decode(row: typeof events.$inferSelect, sessionId: SessionId): AgentEvent {
  const stamp = { id: row.id, sessionId, runId: row.runId, turn: row.turn, at: row.at };
  return { type: row.type, ...JSON.parse(row.body), ...stamp } as AgentEvent;
}

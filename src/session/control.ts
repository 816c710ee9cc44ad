/** The ControlChannel over storage and the lanes: dialog operations for gateway, page, terminal and commands alike. */
import type { QueuedMessage } from '../bus/inbound-queue.js';
import type { ControlChannel, SessionSummary, VisibleMessage } from '../protocol/control.js';
import { UserError } from '../protocol/errors.js';
import type { AgentEvent, EventOf, EventType } from '../protocol/events.js';
import { parseSessionId, type SessionId } from '../protocol/ids.js';
import { compactSession } from './compact-session.js';
import { readDialogFile, toJson, toMarkdown } from './export.js';
import type { LiveSession } from './live-session.js';
import { cursorAfter, type SessionRow } from './session-store.js';
import type { TurnParts } from './turn.js';

export interface ControlLinks {
  live(row: SessionRow): LiveSession;
  isTurnRunning(row: SessionRow): boolean;
  loaded(id: SessionId): LiveSession | undefined;
  forget(id: SessionId): void;
  isBusy(row: SessionRow): boolean;
  waiting(row: SessionRow): readonly QueuedMessage[];
  stop(row: SessionRow): Promise<{ stopped: boolean; cleared: number }>;
}

const visibleTypes: EventType[] = ['user-message', 'command', 'assistant-message', 'tool-result', 'notice', 'run-end'];

export function createControl(parts: TurnParts, links: ControlLinks): ControlChannel {
  const { sessions, transcript, runs, bus } = parts;

  const find = (id: string): SessionRow => {
    if (!parseSessionId(id)) {
      throw new UserError('invalid_session_id', `"${id}" is not a session id. They look like channel:chat:dialog.`);
    }
    const row = sessions.find(id);
    if (!row || row.deletedAt !== null) {
      throw new UserError('session_not_found', `There is no dialog "${id}".`, { status: 404 });
    }
    return row;
  };
  const summary = (row: SessionRow): SessionSummary => ({
    id: row.id,
    ...parseSessionId(row.id)!,
    title: row.title,
    ...(row.parentId !== null && { parentId: row.parentId as SessionId }),
    messageCount: row.messageCount,
    usage: {
      inputTokens: row.inputTokens,
      outputTokens: row.outputTokens,
      cachedInputTokens: row.cachedInputTokens,
      reasoningTokens: row.reasoningTokens,
    },
    createdAt: row.createdAt,
    lastActiveAt: row.lastActiveAt,
    archived: row.archivedAt !== null,
    current: sessions.currentOf(row.scope) === row.id,
    busy: links.isBusy(row),
  });

  const control: ControlChannel = {
    list(filter) {
      const limit = Math.min(200, Math.max(1, filter.limit ?? 10));
      const scope = filter.sameScopeAs === undefined ? undefined : find(filter.sameScopeAs).scope;
      const rows = sessions.list({ ...filter, limit, scope });
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const items = page.map(summary);
      return rows.length > limit && last ? { items, nextCursor: cursorAfter(last) } : { items };
    },
    create({ channel, chatId, title, dialogId = parts.newId('d'), sameScopeAs }) {
      const address = { channel, chatId, dialogId };
      const scope = sameScopeAs === undefined ? undefined : find(sameScopeAs).scope;
      try {
        return summary(
          sessions.create(address, title ?? parts.defaultTitle, title === undefined ? 'default' : 'user', scope),
        );
      } catch (error) {
        if ((error as { code?: unknown }).code !== 'SQLITE_CONSTRAINT_UNIQUE') throw error;
        throw new UserError('session_exists', `There is a dialog "${dialogId}" already.`, {
          status: 409,
          cause: error,
        });
      }
    },
    get: (id) => summary(find(id)),
    update(id, { title, archived }) {
      const row = find(id);
      if (title !== undefined && title.trim() === '') {
        throw new UserError('invalid_title', 'A title needs at least one visible character.');
      }
      parts.db.transaction(() => {
        if (title !== undefined) sessions.update(row.key, { title: title.trim().slice(0, 200), titleSource: 'user' });
        if (archived === undefined) return;
        sessions.update(row.key, { archivedAt: archived ? parts.now() : null });
        if (archived) sessions.clearCurrent(row);
      });
      if (archived && !links.isBusy(row)) links.forget(row.id);
      return summary(find(id));
    },
    switchTo(id) {
      const row = find(id);
      parts.db.transaction(() => {
        if (row.archivedAt !== null) sessions.update(row.key, { archivedAt: null });
        sessions.setCurrent(row);
      });
      return summary(find(id));
    },
    async delete(id) {
      const row = find(id);
      await links.stop(row);
      parts.db.transaction(() => {
        sessions.update(row.key, { deletedAt: parts.now() });
        sessions.clearCurrent(row);
      });
      links.forget(row.id);
    },
    exportDialog(id, format) {
      const row = find(id);
      if (format === 'json') return toJson(summary(row), transcript.read(row, 0, Number.MAX_SAFE_INTEGER));
      const newestFirst = transcript.readBackwards(row, visibleTypes, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
      return toMarkdown(summary(row), toVisible(newestFirst.reverse()));
    },
    importDialog(chat, data) {
      const file = readDialogFile(data);
      return parts.db.transaction(() => {
        const row = sessions.create({ ...chat, dialogId: parts.newId('d') }, file.title, 'user');
        for (const event of file.events) transcript.append(row.key, { ...event, sessionId: row.id });
        const turnCount = Math.max(0, ...file.events.map((event) => event.turn));
        const messageCount = file.events.filter(
          (event) => event.type === 'user-message' || event.type === 'assistant-message',
        ).length;
        sessions.update(row.key, { turnCount, messageCount, createdAt: file.createdAt });
        return summary(find(row.id));
      });
    },
    search: (query, options) => parts.search(query, options),
    restore(id) {
      const row = sessions.find(id);
      if (!row) throw new UserError('session_not_found', `There is no dialog "${id}".`, { status: 404 });
      sessions.update(row.key, { deletedAt: null, archivedAt: null });
      return summary(find(id));
    },
    messages(id, { before = Number.MAX_SAFE_INTEGER, limit = 100 } = {}) {
      const row = find(id);
      const newestFirst = transcript.readBackwards(row, visibleTypes, before, Math.min(1000, Math.max(1, limit)));
      return toVisible(newestFirst.reverse());
    },
    events(id, after, limit = 1000) {
      const row = find(id);
      const stored = transcript.read(row, after, limit);
      const live = links.loaded(row.id)?.liveDeltas ?? [];
      // A command that was answered meanwhile is stored with a higher id than deltas that are not.
      const known = stored.length < limit ? live.filter((event) => event.id > after) : [];
      return known.length === 0 ? stored : [...stored, ...known].sort((a, b) => a.id - b.id);
    },
    async compact(id, signal) {
      const row = find(id);
      if (links.isTurnRunning(row)) {
        throw new UserError('session_busy', 'A turn is running. Try again when it has ended, or /stop it.', {
          status: 409,
        });
      }
      const session = links.live(row);
      const run = { runId: parts.newId('run'), turn: session.turnCount };
      const report = await compactSession(parts, session, run, 'request', signal);
      if (report.kind !== 'compacted') return { kind: 'unchanged' };
      const { tokensBefore, tokensAfter } = report;
      return { kind: 'compacted', tokensBefore, tokensAfter };
    },
    stop: (id) => links.stop(find(id)),
    runOf({ channel, chatId, dialogId, messageId }) {
      const found = bus.inbound.find({ channel, chatId, messageId, ...(dialogId !== undefined && { dialogId }) });
      const run = found?.runId ? runs.find(found.runId) : undefined;
      const row = run && sessions.findByKey(run.sessionKey);
      if (!run || !row) return undefined;
      const state = run.endedAt === null ? 'running' : 'done';
      return { sessionId: row.id, runId: run.id, startEventId: run.startEventId, state };
    },
    queued: (id) =>
      links
        .waiting(find(id))
        .map(({ message }) => ({ messageId: message.messageId, text: message.text, at: message.sentAt })),
  };
  return control;
}

/** Oldest first. Tool calls belong to the assistant message that made them; a call without a result is still running. */
function toVisible(events: AgentEvent[]): VisibleMessage[] {
  const results = new Map(
    events.flatMap((event) => (event.type === 'tool-result' ? [[event.callId, event] as const] : [])),
  );
  return events.flatMap((event): VisibleMessage[] => {
    const base = { id: event.id, runId: event.runId, at: event.at };
    switch (event.type) {
      case 'user-message':
      case 'command':
        return [
          {
            ...base,
            role: 'user',
            text: event.text,
            messageId: event.messageId,
            ...(event.sender.name !== undefined && { senderName: event.sender.name }),
          },
        ];
      case 'assistant-message':
        return [assistantMessage(event, results)];
      case 'notice':
        return [{ ...base, role: 'notice', text: event.text }];
      case 'run-end':
        return event.error ? [{ ...base, role: 'notice', text: `⚠️ ${event.error.message} (${event.error.code})` }] : [];
      default:
        return [];
    }
  });
}

function assistantMessage(
  event: EventOf<'assistant-message'>,
  results: ReadonlyMap<string, EventOf<'tool-result'>>,
): VisibleMessage {
  const toolCalls = event.toolCalls.map(({ callId, name, input }) => {
    const result = results.get(callId);
    return result
      ? { callId, name, input, state: result.state, output: result.output }
      : { callId, name, input, state: 'running' as const };
  });
  return {
    id: event.id,
    runId: event.runId,
    at: event.at,
    role: 'assistant',
    text: event.text,
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}

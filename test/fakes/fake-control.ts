/**
 * An in-memory daemon behind the doors: `receive`, ControlChannel and EventFeed over plain arrays. It keeps events
 * as the real store does: deltas only until their `assistant-message` replaces them.
 */
import type { Receive } from '../../channels/channel.js';
import type { ControlChannel, EventFeed, SessionSummary, VisibleMessage } from '../../src/protocol/control.js';
import { UserError } from '../../src/protocol/errors.js';
import type { AgentEvent, EventBody, EventOf } from '../../src/protocol/events.js';
import { parseSessionId, type SessionId, sessionId } from '../../src/protocol/ids.js';
import type { InboundMessage } from '../../src/protocol/messages.js';

interface FakeSession {
  summary: SessionSummary;
  stored: AgentEvent[];
  liveDeltas: AgentEvent[];
  lastId: number;
  running: FakeRun | undefined;
  waiting: InboundMessage[];
}

export interface FakeRun {
  readonly runId: string;
  readonly sessionId: SessionId;
  readonly signal: AbortSignal;
  emit(body: EventBody): AgentEvent;
  /** Text deltas of the step that goes on. */
  text(...deltas: string[]): void;
  /** Ends the step: its deltas become one `assistant-message`. */
  step(toolCalls?: { callId: string; name: string; input: unknown }[]): void;
  /** Ends the step and the run. */
  end(end?: Partial<EventOf<'run-end'>>): void;
}

export type FakeAnswer = (run: FakeRun, messages: InboundMessage[]) => void | Promise<void>;

export interface FakeControl {
  readonly control: ControlChannel;
  readonly feed: EventFeed;
  readonly receive: Receive;
  /** Everything that was taken, duplicates left out. */
  readonly received: InboundMessage[];
  /** Thrown by `receive` instead of taking a message. */
  refusal: Error | undefined;
  /** Answers each message on its own as soon as its dialog is free. Undefined: messages wait for `begin`. */
  answer: FakeAnswer | undefined;
  /** Starts one run for the first `count` messages that wait in the dialog. */
  begin(id: SessionId, count?: number): FakeRun;
  /** Runs so far. */
  readonly runCount: number;
  createSession(channel: string, chatId: string, dialogId: string): SessionSummary;
}

/** Answers `echo: <text>` in small deltas. */
export const echo: FakeAnswer = (run, messages) => {
  const text = `echo: ${messages.map((message) => message.text).join(' ')}`;
  run.text(...(text.match(/.{1,4}/gsu) ?? []));
  run.end();
};

export function createFakeControl(): FakeControl {
  const sessions = new Map<SessionId, FakeSession>();
  const listeners = new Set<(event: AgentEvent) => void>();
  const known = new Map<string, { message: InboundMessage; run?: { id: SessionId; runId: string; start: number } }>();
  const received: InboundMessage[] = [];
  let runCount = 0;
  let sessionCount = 0;

  const find = (id: string): FakeSession => {
    if (!parseSessionId(id)) throw new UserError('invalid_session_id', `"${id}" is not a session id.`);
    const session = sessions.get(id as SessionId);
    if (!session) throw new UserError('session_not_found', `There is no dialog "${id}".`, { status: 404 });
    return session;
  };

  const createSession = (channel: string, chatId: string, dialogId: string): SessionSummary => {
    const id = sessionId({ channel, chatId, dialogId });
    for (const { summary } of sessions.values()) {
      if (summary.channel === channel && summary.chatId === chatId) summary.current = false;
    }
    sessionCount += 1;
    const summary: SessionSummary = {
      id,
      channel,
      chatId,
      dialogId,
      title: 'New chat',
      messageCount: 0,
      usage: {},
      createdAt: sessionCount,
      lastActiveAt: sessionCount,
      archived: false,
      current: true,
      busy: false,
    };
    sessions.set(id, { summary, stored: [], liveDeltas: [], lastId: 0, running: undefined, waiting: [] });
    return summary;
  };

  const sessionFor = ({ channel, chatId, dialogId }: InboundMessage): FakeSession => {
    const current = [...sessions.values()].find(
      ({ summary }) =>
        summary.channel === channel &&
        summary.chatId === chatId &&
        (dialogId === undefined ? summary.current : summary.dialogId === dialogId),
    );
    return current ?? find(createSession(channel, chatId, dialogId ?? `d_${sessionCount + 1}`).id);
  };

  const keyOf = (message: { channel: string; chatId: string; dialogId?: string; messageId: string }) =>
    JSON.stringify([message.channel, message.chatId, message.dialogId ?? '', message.messageId]);

  const publish = (event: AgentEvent) => {
    for (const listener of listeners) listener(event);
  };

  const begin = (session: FakeSession, count: number): FakeRun => {
    const messages = session.waiting.splice(0, count);
    const abort = new AbortController();
    runCount += 1;
    const runId = `run_${runCount}`;
    const turn = runCount;
    let stepNumber = 1;
    let deltas: EventOf<'text-delta'>[] = [];
    let lastText = '';
    const { id } = session.summary;
    const stamp = (body: EventBody): AgentEvent => {
      session.lastId += 1;
      return { ...body, id: session.lastId, sessionId: id, runId, turn, at: session.lastId };
    };
    const run: FakeRun = {
      runId,
      sessionId: id,
      signal: abort.signal,
      emit(body) {
        const event = stamp(body);
        if (event.type === 'text-delta' || event.type === 'reasoning-delta') session.liveDeltas.push(event);
        else session.stored.push(event);
        if (event.type === 'text-delta') deltas.push(event);
        if (event.type === 'assistant-message') session.liveDeltas = [];
        publish(event);
        return event;
      },
      text(...texts) {
        for (const text of texts) run.emit({ type: 'text-delta', step: stepNumber, text });
      },
      step(toolCalls = []) {
        lastText = deltas.map((delta) => delta.text).join('');
        const lengths = deltas.map((delta): [number, number] => [delta.id, delta.text.length]);
        deltas = [];
        run.emit({ type: 'assistant-message', step: stepNumber, text: lastText, toolCalls, deltas: lengths });
        stepNumber += 1;
      },
      end(end = {}) {
        if (deltas.length > 0) run.step();
        session.running = undefined;
        run.emit({ type: 'run-end', stopReason: 'end_turn', text: lastText, usage: { outputTokens: 3 }, ...end });
        serveNext(session);
      },
    };
    session.running = run;
    aborts.set(run, abort);
    const start = session.lastId + 1;
    for (const message of messages) known.set(keyOf(message), { message, run: { id, runId, start } });
    run.emit({
      type: 'run-start',
      model: 'fake/model',
      messageIds: messages.map((message) => message.messageId),
      attempt: 1,
    });
    for (const { messageId, text, sender } of messages) {
      run.emit({ type: 'user-message', messageId, text, sent: text, sender, attachments: [] });
    }
    return run;
  };
  const aborts = new Map<FakeRun, AbortController>();

  const serveNext = (session: FakeSession) => {
    const message = session.waiting[0];
    if (!fake.answer || session.running || !message) return;
    void fake.answer(begin(session, 1), [message]);
  };

  const toVisible = (session: FakeSession): VisibleMessage[] => {
    const results = new Map(
      session.stored.flatMap((event) => (event.type === 'tool-result' ? [[event.callId, event]] : [])),
    );
    return session.stored.flatMap((event): VisibleMessage[] => {
      const { id, runId, at } = event;
      if (event.type === 'user-message') {
        return [{ id, runId, at, role: 'user', text: event.text, messageId: event.messageId }];
      }
      if (event.type === 'notice') return [{ id, runId, at, role: 'notice', text: event.text }];
      if (event.type !== 'assistant-message') return [];
      const toolCalls = event.toolCalls.map(({ callId, name, input }) => {
        const result = results.get(callId);
        return result
          ? { callId, name, input, state: result.state, output: result.output }
          : { callId, name, input, state: 'running' as const };
      });
      return [{ id, runId, at, role: 'assistant', text: event.text, ...(toolCalls.length > 0 && { toolCalls }) }];
    });
  };

  const control: ControlChannel = {
    list({ channel, chatId, archived = false, limit = 10 }) {
      const items = [...sessions.values()]
        .map(({ summary }) => summary)
        .filter((summary) => channel === undefined || summary.channel === channel)
        .filter((summary) => chatId === undefined || summary.chatId === chatId)
        .filter((summary) => summary.archived === archived)
        .reverse();
      return items.length > limit ? { items: items.slice(0, limit), nextCursor: 'more' } : { items };
    },
    create({ channel, chatId, title, dialogId }) {
      const summary = createSession(channel, chatId, dialogId ?? `d_${sessionCount + 1}`);
      if (title !== undefined) summary.title = title;
      return summary;
    },
    get: (id) => find(id).summary,
    update: (id, change) => Object.assign(find(id).summary, change),
    switchTo: (id) => Object.assign(find(id).summary, { current: true }),
    async delete(id) {
      sessions.delete(find(id).summary.id);
    },
    exportDialog: (id, format) =>
      format === 'md' ? `# ${find(id).summary.title}\n` : JSON.stringify({ title: find(id).summary.title }),
    importDialog: ({ channel, chatId }) => createSession(channel, chatId, `d_${sessionCount + 1}`),
    restore: (id) => Object.assign(find(id).summary, { archived: false }),
    messages(id, { before = Number.MAX_SAFE_INTEGER, limit = 100 } = {}) {
      return toVisible(find(id))
        .filter((message) => message.id < before)
        .slice(-limit);
    },
    events(id, after, limit = 1000) {
      const session = find(id);
      const rows = session.stored.filter((event) => event.id > after).slice(0, limit);
      const page = rows.flatMap((event) =>
        event.type === 'assistant-message' ? [...restOfDeltas(event, after), event] : [event],
      );
      const end = rows.length < limit ? Number.MAX_SAFE_INTEGER : page.at(-1)!.id;
      const live = session.liveDeltas.filter((event) => event.id > after && event.id < end);
      return [...page, ...live].sort((a, b) => a.id - b.id);
    },
    async stop(id) {
      const session = find(id);
      const cleared = session.waiting.splice(0);
      const { running } = session;
      if (running) {
        aborts.get(running)?.abort();
        running.end({ stopReason: 'cancelled' });
      }
      for (const message of cleared) {
        session.waiting.unshift(message);
        begin(session, 1).end({ stopReason: 'cancelled' });
      }
      return { stopped: running !== undefined, cleared: cleared.length };
    },
    runOf(message) {
      const run = known.get(keyOf(message))?.run;
      if (!run) return undefined;
      const isDone = find(run.id).running?.runId !== run.runId;
      return { sessionId: run.id, runId: run.runId, startEventId: run.start, state: isDone ? 'done' : 'running' };
    },
    compact: async () => ({ kind: 'unchanged' }),
    search: async () => [],
    queued: (id) => find(id).waiting.map(({ messageId, text, sentAt }) => ({ messageId, text, at: sentAt })),
  };

  const fake: FakeControl = {
    control,
    feed: {
      subscribe(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    async receive(message) {
      if (fake.refusal) throw fake.refusal;
      const before = known.get(keyOf(message))?.message;
      if (before && before.text !== message.text) {
        throw new UserError('message_id_reused', `Message id "${message.messageId}" was used before.`, { status: 409 });
      }
      if (before) return { duplicate: true };
      known.set(keyOf(message), { message });
      received.push(message);
      const session = sessionFor(message);
      session.waiting.push(message);
      serveNext(session);
      return { duplicate: false };
    },
    received,
    refusal: undefined,
    answer: echo,
    begin: (id, count = 1) => begin(find(id), count),
    get runCount() {
      return runCount;
    },
    createSession,
  };
  return fake;
}

function restOfDeltas(message: EventOf<'assistant-message'>, after: number): AgentEvent[] {
  const last = message.deltas.at(-1);
  if (!last || last[0] <= after) return [];
  const seen = message.deltas.reduce((length, [id, size]) => (id <= after ? length + size : length), 0);
  const { sessionId: session, runId, turn, at, step } = message;
  return [
    { type: 'text-delta', id: last[0], sessionId: session, runId, turn, at, step, text: message.text.slice(seen) },
  ];
}

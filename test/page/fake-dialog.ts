/** A dialog in memory: stored messages, one turn at a time, and who follows it from which event on. */
import type { SessionSummary, VisibleMessage } from '../../src/protocol/control.js';
import type { StopReason } from '../../src/protocol/events.js';
import { sessionId } from '../../src/protocol/ids.js';
import type { FakeConnection } from './fake-connection.js';
import type { FakeGateway } from './fake-gateway.js';

export type Play = (turn: FakeTurn) => Promise<void>;

/** What a test does with a turn. Each step is one event. */
export interface FakeTurn {
  readonly gateway: FakeGateway;
  readonly dialog: FakeDialog;
  readonly text: string;
  /** Aborts when the person presses stop. */
  readonly signal: AbortSignal;
  say(text: string): void;
  think(text: string): void;
  /** Stores what was said so far, with the call; the returned function ends it. */
  callTool(name: string, input: unknown): (output: string, state?: 'done' | 'failed') => void;
  notice(text: string): void;
  /** Ends the turn with an error; otherwise it ends when the play does. */
  fail(error: { code: string; message: string }): void;
}

interface Waiting {
  connection: FakeConnection | undefined;
  messageId: string;
  text: string;
  at: number;
}

type StampedFrame = { eventId: number } & Record<string, unknown>;

export class FakeDialog {
  title = '';
  isArchived = false;
  isDeleted = false;
  isCurrent = false;
  lastActiveAt = Date.now();
  readonly messages: VisibleMessage[] = [];
  readonly dialogId: string;
  readonly #gateway: FakeGateway;
  readonly #play: Play;
  readonly #followers = new Set<FakeConnection>();
  readonly #queue: Waiting[] = [];
  readonly #known = new Set<string>();
  #frames: StampedFrame[] = [];
  #lastEventId = 0;
  #running: AbortController | undefined;
  #runs = 0;

  constructor(gateway: FakeGateway, dialogId: string, play: Play) {
    this.#gateway = gateway;
    this.dialogId = dialogId;
    this.#play = play;
  }

  summary(): SessionSummary {
    const address = { channel: 'websocket', chatId: 'web', dialogId: this.dialogId };
    return {
      id: sessionId(address),
      ...address,
      title: this.title,
      messageCount: this.messages.length,
      usage: {},
      createdAt: this.lastActiveAt,
      lastActiveAt: this.lastActiveAt,
      archived: this.isArchived,
      current: this.isCurrent,
      busy: this.#running !== undefined,
    };
  }

  /** A finished exchange of the past. */
  seed(text: string, answer: string, at = Date.now()): void {
    this.#runs += 1;
    const runId = `run_${this.dialogId}_${this.#runs}`;
    this.messages.push({ id: ++this.#lastEventId, runId, role: 'user', text, at, messageId: runId });
    this.messages.push({ id: ++this.#lastEventId, runId, role: 'assistant', text: answer, at });
  }

  follow(connection: FakeConnection, lastEventId?: number): void {
    const missed = this.#frames.filter((frame) => frame.eventId > (lastEventId ?? this.#lastEventId));
    for (const frame of missed) connection.send(frame);
    const messages = this.messages.slice(-100);
    connection.send({ type: 'sync', sessionId: this.dialogId, content: { messages, lastEventId: this.#lastEventId } });
    this.#followers.add(connection);
    this.#tellQueue();
  }

  unfollow(connection: FakeConnection): void {
    this.#followers.delete(connection);
  }

  receive(connection: FakeConnection | undefined, messageId: string, text: string): void {
    if (this.#known.has(messageId)) return;
    this.#known.add(messageId);
    this.#queue.push({ connection, messageId, text, at: Date.now() });
    this.#tellQueue();
    if (!this.#running) void this.#work();
  }

  /** Ends the running turn, and every waiting message without a turn. */
  stop(): void {
    for (const { messageId } of this.#queue.splice(0)) {
      this.#runs += 1;
      const stamp = { sessionId: this.dialogId, messageId, runId: `run_${this.dialogId}_${this.#runs}` };
      const content = { stopReason: 'cancelled', usage: {}, text: '' };
      this.#emit({ type: 'end', ...stamp, eventId: ++this.#lastEventId, content });
    }
    this.#tellQueue();
    this.#running?.abort();
  }

  async #work(): Promise<void> {
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      this.#running = new AbortController();
      await this.#turn(next, this.#running.signal);
      this.#running = undefined;
    }
  }

  async #turn({ messageId, text, at }: Waiting, signal: AbortSignal): Promise<void> {
    this.#runs += 1;
    const runId = `run_${this.dialogId}_${this.#runs}`;
    const stamp = () => ({ sessionId: this.dialogId, messageId, runId, eventId: ++this.#lastEventId });
    let unstored = '';
    let error: { code: string; message: string } | undefined;
    this.lastActiveAt = at;
    this.#emit({ type: 'start', ...stamp(), content: { model: 'fake/model', attempt: 1 } });
    this.#store({ id: ++this.#lastEventId, runId, role: 'user', text, at, messageId });
    this.#tellQueue();
    const turn: FakeTurn = {
      gateway: this.#gateway,
      dialog: this,
      text,
      signal,
      say: (content) => {
        unstored += content;
        this.#emit({ type: 'text', ...stamp(), content });
      },
      think: (content) => this.#emit({ type: 'reasoning', ...stamp(), content }),
      callTool: (name, input) => {
        const callId = `call_${this.#lastEventId + 1}`;
        const call: NonNullable<VisibleMessage['toolCalls']>[number] = { callId, name, input, state: 'running' };
        const message = { role: 'assistant' as const, text: unstored, at: Date.now(), toolCalls: [call] };
        this.#store({ id: ++this.#lastEventId, runId, ...message });
        unstored = '';
        this.#emit({ type: 'tool_calls', ...stamp(), content: [{ id: callId, name, input, state: 'running' }] });
        return (result, state = 'done') => {
          Object.assign(call, { state, output: result });
          this.#emit({ type: 'tool_calls', ...stamp(), content: [{ id: callId, name, input, state, result }] });
        };
      },
      notice: (content) => {
        this.#emit({ type: 'notice', ...stamp(), content });
        this.#store({ id: this.#lastEventId, runId, role: 'notice', text: content, at: Date.now() });
      },
      fail: (failure) => {
        error = failure;
      },
    };
    await this.#play(turn);
    const stopReason: StopReason = error ? 'model_error' : signal.aborted ? 'cancelled' : 'end_turn';
    if (unstored !== '') {
      this.#store({ id: ++this.#lastEventId, runId, role: 'assistant', text: unstored, at: Date.now() });
    }
    if (error) this.#emit({ type: 'error', ...stamp(), content: error });
    const end = { ...stamp(), ...(error && { eventId: this.#lastEventId }) };
    this.#emit({ type: 'end', ...end, content: { stopReason, usage: {}, text: unstored } });
    if (error) {
      const notice = { role: 'notice' as const, text: `⚠️ ${error.message} (${error.code})`, at: Date.now() };
      this.#store({ id: this.#lastEventId, runId, ...notice });
    }
    if (this.title === '') this.title = text.slice(0, 40);
  }

  #store(message: VisibleMessage): void {
    this.messages.push(message);
    // As in the real one: deltas are gone once their message is stored.
    const content = structuredClone([message]);
    this.#send({ type: 'history/add', sessionId: this.dialogId, content });
  }

  #emit(frame: StampedFrame): void {
    this.#frames.push(frame);
    this.#send(frame);
  }

  #tellQueue(): void {
    const content = this.#queue.map(({ messageId, text, at }) => ({ messageId, text, at }));
    this.#send({ type: 'context', sessionId: this.dialogId, content });
  }

  #send(frame: object): void {
    for (const follower of this.#followers) follower.send(frame);
  }
}

/** One client: reads its messages in order, answers each, and knows which turns and dialogs it follows. */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Logger } from '../../src/observability/log.js';
import type { ControlChannel } from '../../src/protocol/control.js';
import { describeError, UserError } from '../../src/protocol/errors.js';
import type { CheckedFrame } from '../../src/protocol/frames.js';
import { type ChatAddress, type SessionId, sessionId } from '../../src/protocol/ids.js';
import { readJson } from '../../src/protocol/read-json.js';
import type { SettingsService } from '../../src/protocol/settings.js';
import type { Receive } from '../channel.js';
import { findDialog, findOwnDialog } from '../dialog-reference.js';
import type { RunWatch } from '../run-watch.js';
import type { FrameEncoder } from './encode.js';
import { closeCodes, createOutlet, type Outlet } from './outlet.js';
import { echoOf, readFrame, splitBatch } from './read-frames.js';
import { stopDialog } from './stop-dialog.js';
import { type Subscription, subscribe } from './subscription.js';
import { createTurn, type Turn } from './turn.js';

/** What every connection of the door shares. */
export interface ConnectionParts {
  control: ControlChannel;
  watch: RunWatch;
  encode: FrameEncoder;
  isLocalChannel: (channel: string) => boolean;
  settings: SettingsService;
  models: { list(): { id: string; name: string }[] };
  version: string;
  now: () => number;
  newId: (prefix: string) => string;
  log: Logger;
}

type FrameOf<Type extends CheckedFrame['type']> = Extract<CheckedFrame, { type: Type }>;
/** Settles when everything that a message asked for is done. Wrapped, so that awaiting the start does not await it. */
type Accepted = { done: Promise<void> };

export const maxTurns = 32;
export const maxSubscriptions = 256;
/** Frames received and not yet begun; beyond it nothing is read from the socket. */
const maxBacklog = 64;

export class Connection {
  readonly #socket: WebSocket;
  readonly #chat: ChatAddress;
  readonly #parts: ConnectionParts;
  readonly #receive: Receive;
  readonly #outlet: Outlet;
  /** By dialog and message id. */
  readonly #turns = new Map<string, Turn>();
  readonly #subscriptions = new Map<SessionId, Subscription>();
  #tail: Promise<void> = Promise.resolve();
  #backlog = 0;
  #isAlive = true;

  /** `stream` is the socket below `socket`. */
  constructor(socket: WebSocket, stream: Duplex, chat: ChatAddress, parts: ConnectionParts, receive: Receive) {
    this.#socket = socket;
    this.#chat = chat;
    this.#parts = parts;
    this.#receive = receive;
    const { log } = parts;
    this.#outlet = createOutlet(socket, () => log.warn({ ...chat }, 'client reads too slowly and is let go'));
    socket.on('message', (data, isBinary) => {
      this.#isAlive = true;
      this.#enqueue(isBinary ? undefined : data.toString());
    });
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    // What the peer did wrong; the library has answered with the close code that says it.
    socket.on('error', (error) => log.debug({ err: error, ...chat }, 'websocket error'));
    socket.on('close', () => this.#dispose());
    stream.on('drain', () => {
      for (const turn of this.#turns.values()) turn.follower.resume();
      for (const subscription of this.#subscriptions.values()) subscription.resume();
    });
  }

  /** Called at every heartbeat. A peer that was silent since the last one is gone. */
  beat(): void {
    if (!this.#isAlive) {
      this.#socket.terminate();
      return;
    }
    this.#isAlive = false;
    this.#socket.ping();
  }

  /** The server goes down. Messages without an answer stay in the queue. */
  shutDown(): void {
    const error = new UserError(
      'shutting_down',
      'PicoBot is stopping. The message is kept and will be answered after the restart: send it again with the same messageId to get the answer.',
    );
    for (const turn of this.#turns.values()) this.#outlet.sendError(error, turn.echo);
    this.#socket.close(closeCodes.goingAway, 'PicoBot is stopping');
  }

  /** The runs go on; only this client stops following them. */
  #dispose(): void {
    for (const turn of [...this.#turns.values()]) turn.close();
    for (const subscription of this.#subscriptions.values()) subscription.close();
    this.#subscriptions.clear();
  }

  /** One frame after the other, so that messages are stored in the order in which they came. */
  #enqueue(text: string | undefined): void {
    this.#backlog += 1;
    if (this.#backlog > maxBacklog) this.#socket.pause();
    this.#tail = this.#tail.then(async () => {
      await this.#handle(text);
      this.#backlog -= 1;
      if (this.#backlog === 0 && this.#socket.isPaused) this.#socket.resume();
    });
  }

  async #handle(text: string | undefined): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    try {
      if (text === undefined) {
        throw new UserError('unsupported_frame', 'Binary frames are not taken by this version. Send JSON as text.');
      }
      const messages = splitBatch(text);
      const accepted: Accepted[] = [];
      for (const message of messages) accepted.push(await this.#accept(message));
      if (messages.length > 1) void this.#endBatch(accepted);
    } catch (error) {
      this.#fail(error);
    }
  }

  async #endBatch(accepted: Accepted[]): Promise<void> {
    await Promise.all(accepted.map(({ done }) => done));
    this.#outlet.send({ type: 'end' });
  }

  async #accept(text: string): Promise<Accepted> {
    let value: unknown;
    try {
      value = readJson(text);
      return await this.#answer(readFrame(value));
    } catch (error) {
      this.#fail(error, echoOf(value));
      return { done: Promise.resolve() };
    }
  }

  #fail(error: unknown, echo: { sessionId?: string; messageId?: string } = {}): void {
    if (!(error instanceof UserError))
      this.#parts.log.error({ err: error, ...this.#chat }, 'frame could not be answered');
    this.#outlet.sendError(error, echo);
  }

  async #answer(frame: CheckedFrame): Promise<Accepted> {
    switch (frame.type) {
      case 'text':
        return this.#takeText(frame);
      case 'stop':
        return { done: this.#stop(frame) };
      case 'setting':
      case 'system':
        return { done: this.#reply(frame) };
      case 'subscribe':
        this.#subscribe(frame);
        return { done: Promise.resolve() };
      case 'unsubscribe': {
        const id = sessionId(findDialog(frame.sessionId, this.#chat, this.#parts.control));
        this.#subscriptions.get(id)?.close();
        this.#subscriptions.delete(id);
        return { done: Promise.resolve() };
      }
    }
  }

  async #takeText(frame: FrameOf<'text'>): Promise<Accepted> {
    const { newId, now } = this.#parts;
    const address = findOwnDialog(frame.sessionId, this.#chat, this.#parts);
    const id = sessionId(address);
    const messageId = frame.messageId ?? newId('m');
    const key = `${id}\n${messageId}`;
    const running = this.#turns.get(key);
    if (!running && this.#turns.size >= maxTurns) {
      throw new UserError(
        'too_many_turns',
        `${maxTurns} messages of this connection wait for their answers; this one was not taken. Send it again later.`,
      );
    }
    const turn = running ?? this.#createTurn(frame, { ...address, messageId });
    if (!running) {
      this.#turns.set(key, turn);
      void turn.done.then(() => this.#turns.delete(key));
    }
    try {
      const { duplicate } = await this.#receive({
        ...address,
        messageId,
        sender: { id: 'owner', role: 'owner' },
        chatType: 'direct',
        mentioned: true,
        text: frame.content.text,
        attachments: [],
        sentAt: now(),
      });
      // Sent again while its answer streams on this very connection: that goes on as it is.
      if (running) return { done: running.done };
      if (duplicate) turn.follower.replay(0);
      else turn.follower.open();
    } catch (error) {
      if (!running) turn.close();
      this.#fail(error, turn.echo);
      return { done: Promise.resolve() };
    }
    this.#subscriptions.get(id)?.checkQueue();
    return { done: turn.done };
  }

  #createTurn(frame: FrameOf<'text'>, message: ChatAddress & { dialogId: string; messageId: string }): Turn {
    return createTurn({
      ...this.#parts,
      message,
      isFreshId: frame.messageId === undefined,
      echo: { sessionId: frame.sessionId, messageId: message.messageId },
      outlet: this.#outlet,
      onRun: (run) => {
        if (run.isRunning) this.#subscriptions.get(run.sessionId)?.passOver(run.runId);
      },
    });
  }

  async #stop(frame: FrameOf<'stop'>): Promise<void> {
    try {
      const address = findDialog(frame.sessionId, this.#chat, this.#parts.control);
      const id = sessionId(address);
      const ownRuns = this.#runsIn(id);
      await stopDialog({
        ...this.#parts,
        address,
        frame,
        outlet: this.#outlet,
        getsEndOf: (runId) => ownRuns.has(runId) || this.#subscriptions.has(id),
      });
    } catch (error) {
      this.#fail(error, echoOf(frame));
    }
  }

  #subscribe(frame: FrameOf<'subscribe'>): void {
    const id = sessionId(findDialog(frame.sessionId, this.#chat, this.#parts.control));
    const known = this.#subscriptions.get(id);
    if (!known && this.#subscriptions.size >= maxSubscriptions) {
      throw new UserError(
        'too_many_subscriptions',
        `One connection follows at most ${maxSubscriptions} dialogs. Send "unsubscribe" for those you no longer need.`,
      );
    }
    known?.close();
    const subscription = subscribe({
      ...this.#parts,
      sessionId: id,
      name: frame.sessionId,
      lastEventId: frame.lastEventId,
      ownRuns: this.#runsIn(id),
      outlet: this.#outlet,
    });
    this.#subscriptions.set(id, subscription);
  }

  /** Runs in the dialog whose frames come as answers to this connection's own messages. */
  #runsIn(id: SessionId): Set<string> {
    return new Set(
      [...this.#turns.values()].flatMap(({ run }) => (run?.isRunning && run.sessionId === id ? [run.runId] : [])),
    );
  }

  async #reply(frame: FrameOf<'setting'> | FrameOf<'system'>): Promise<void> {
    const { act } = frame.content;
    const head = { type: frame.type, act, ...(frame.messageId !== undefined && { messageId: frame.messageId }) };
    try {
      this.#outlet.send({ ...head, status: 'success', data: await this.#perform(frame) });
    } catch (error) {
      this.#outlet.send({ ...head, status: 'error', data: describeError(error) });
    }
  }

  async #perform({ content }: FrameOf<'setting'> | FrameOf<'system'>): Promise<unknown> {
    const { settings, models, version } = this.#parts;
    switch (content.act) {
      case 'getConfig':
        return settings.getConfig();
      case 'getDefaultConfig':
        return settings.getDefaultConfig();
      case 'saveConfig':
        await settings.saveConfig(content.data);
        return settings.getConfig();
      case 'getVersion':
        return { version };
      case 'getModels':
        return { models: models.list() };
    }
  }
}

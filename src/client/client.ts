/**
 * Client of the WebSocket protocol, for Node.js and browsers alike: turns, subscriptions, settings. It comes back after
 * every cut and goes on where it stood: what was not answered yet is sent again under its own id, what had begun is
 * followed from the last event seen, so that no text is lost or comes twice.
 */
import { UserError } from '../protocol/errors.js';
import type { ClientFrame, ReplyFrame, SessionFrame } from '../protocol/frames.js';
import { type Clock, systemClock } from './clock.js';
import { type ConnectionState, createLink, type Link, type Socket } from './link.js';
import { isTurnFrame, type ReceivedError, type ReceivedFrame } from './read-frames.js';
import { findRefusal, type SocketConstructor, socketAddress } from './socket-address.js';
import { type AnswerFrame, type ClientTurn, nothingToStop, PendingTurn } from './turn.js';
import { type DialogFrame, Watch } from './watch.js';

export interface ClientOptions {
  /** Address of the gateway: `http://127.0.0.1:18880`. */
  url: string;
  token: string;
  /** Default: the channel of the page, `websocket`. */
  channel?: 'cli_chat' | 'websocket';
  /** Default: the channel's own. */
  chat?: string;
  /** Closes the client. */
  signal: AbortSignal;
  WebSocket: SocketConstructor;
  fetch?: typeof fetch;
  onState?: (state: ConnectionState) => void;
  clock?: Clock;
  /** 0–1. */
  random?: () => number;
  newId?: () => string;
}

export interface Client {
  /** `sessionId` as in frames, default `default`. A repeated `messageId` with the same text is answered by the same run. */
  send(text: string, options?: { sessionId?: string; messageId?: string }): ClientTurn;
  /** Ends what runs in a dialog, whoever started it. False when there is no connection. */
  stop(sessionId?: string): boolean;
  /** Follows a dialog: its newest messages, then what others do there; own turns come from `send` alone. One per dialog. */
  subscribe(sessionId?: string): AsyncIterable<DialogFrame>;
  /** Throws `UserError`: what the server answered, `connection_lost`, `no_answer`. */
  system(act: 'getVersion' | 'getModels'): Promise<unknown>;
  setting(act: 'getConfig' | 'getDefaultConfig' | 'saveConfig', data?: unknown): Promise<unknown>;
  readonly state: ConnectionState;
  close(): void;
}

/** What the server takes from one connection. */
export const maxPendingTurns = 32;
const maxPendingRequests = 32;
const maxRememberedRuns = 256;
const requestTimeoutMs = 15_000;
const retryPauseMs = 2000;
const frameTooLargeCode = 1009;

interface Request {
  frame: ClientFrame;
  settle(reply: ReplyFrame): void;
  fail(error: unknown): void;
}

/** Throws the signal's reason when that has aborted already. */
export function connect(options: ClientOptions): Client {
  const { signal } = options;
  const clock = options.clock ?? systemClock;
  const newId = options.newId ?? (() => crypto.randomUUID());
  const turns = new Set<PendingTurn>();
  const watches = new Map<string, Watch>();
  const requests = new Map<string, Request>();
  /** Dialogs that the server tells us about on this connection; true once its `sync` came. */
  const followed = new Map<string, boolean>();
  /** The newest runs that answered us, oldest first. */
  const ownRuns = new Set<string>();
  let state: ConnectionState = { name: 'connecting', isRetry: false };
  let cancelRetry: (() => void) | undefined;

  const turnsOf = (sessionId: string) => [...turns].filter((turn) => turn.sessionId === sessionId);
  const isOpen = () => state.name === 'open';

  const sendTurn = (turn: PendingTurn) => {
    if (!turns.has(turn) || turn.isSent) return;
    turn.isSent = link.send(turn.textFrame());
    if (turn.isSent && turn.isStopWanted) link.send(turn.stopFrame());
  };

  /** The dialog is followed from the oldest event that any of its readers has seen last. */
  const follow = (sessionId: string) => {
    const watch = watches.get(sessionId);
    const readers = [...turnsOf(sessionId).filter((turn) => turn.hasBegun), ...(watch?.isSynced ? [watch] : [])];
    const from = Math.min(...readers.map(({ cursor }) => cursor.lastEventId));
    const isResume = readers.length > 0;
    if (!link.send({ type: 'subscribe', sessionId, ...(isResume && { lastEventId: from }) })) return;
    followed.set(sessionId, false);
    for (const { cursor } of readers) cursor.resumeFrom(from);
  };

  const onOpen = () => {
    followed.clear();
    for (const { frame } of requests.values()) link.send(frame);
    const begun = [...turns].filter((turn) => turn.hasBegun).map((turn) => turn.sessionId);
    for (const sessionId of new Set([...watches.keys(), ...begun])) follow(sessionId);
    for (const turn of turns) if (!followed.has(turn.sessionId)) sendTurn(turn);
  };

  /** The server has told what was missed: what it knows goes on by itself, the rest is sent again. */
  const onSync = ({ sessionId, content }: Extract<SessionFrame, { type: 'sync' }>) => {
    if (followed.get(sessionId) !== false) return;
    followed.set(sessionId, true);
    const known = new Set(content.messages.map((message) => message.messageId));
    for (const turn of turnsOf(sessionId)) {
      if (turn.isSent) continue;
      const isFollowed = turn.hasBegun && known.has(turn.messageId);
      if (!isFollowed) {
        if (turn.hasBegun) turn.beginAnew();
        sendTurn(turn);
      } else if (turn.isStopWanted) link.send(turn.stopFrame());
    }
  };

  const onLost = (code: number) => {
    followed.clear();
    cancelRetry?.();
    cancelRetry = undefined;
    if (code === frameTooLargeCode) dropLargest();
    for (const turn of turns) turn.reset();
    for (const [id, request] of requests) {
      if (request.frame.type !== 'setting') continue;
      requests.delete(id);
      request.fail(new UserError('connection_lost', 'The connection broke before the answer came.'));
    }
  };

  /** One of the messages on their way was too large for the server: sending it again would go on for ever. */
  const dropLargest = () => {
    const sent = [...turns].filter((turn) => turn.isSent && !turn.hasBegun);
    const largest = sent.sort((one, other) => other.text.length - one.text.length)[0];
    if (!largest) return;
    turns.delete(largest);
    largest.frames.fail(new UserError('message_too_large', 'The message is larger than the server takes.'));
  };

  const retryLater = () => {
    cancelRetry ??= clock.after(retryPauseMs, () => {
      cancelRetry = undefined;
      for (const turn of turns) {
        if (!turn.isToBeSentAgain) continue;
        turn.reset();
        sendTurn(turn);
      }
    });
  };

  const onAnswer = (frame: AnswerFrame) => {
    let isOurs = false;
    for (const turn of [...turns]) {
      if (!turn.isFor(frame)) continue;
      isOurs = true;
      const outcome = turn.take(frame);
      if (turn.runId !== undefined) rememberRun(turn.runId);
      if (outcome === 'later') retryLater();
      if (outcome === 'over') finish(turn);
    }
    if (!isTurnFrame(frame)) return;
    const watch = watches.get(frame.sessionId);
    if (!isOurs) watch?.push(frame);
    else if (followed.get(frame.sessionId)) watch?.cursor.skipTo(frame.eventId);
  };

  const rememberRun = (runId: string) => {
    ownRuns.delete(runId);
    ownRuns.add(runId);
    if (ownRuns.size > maxRememberedRuns) ownRuns.delete(ownRuns.values().next().value!);
  };

  const finish = (turn: PendingTurn) => {
    turns.delete(turn);
    leaveUnneeded(turn.sessionId);
  };

  /** Unless the dialog is watched, or followed for a turn that began on an earlier connection. */
  const leaveUnneeded = (sessionId: string) => {
    if (watches.has(sessionId) || !turnsOf(sessionId).every((turn) => turn.isSent)) return;
    if (followed.delete(sessionId)) link.send({ type: 'unsubscribe', sessionId });
  };

  const onFrame = (frame: ReceivedFrame) => {
    switch (frame.type) {
      case 'system':
      case 'setting':
        if (frame.messageId !== undefined) requests.get(frame.messageId)?.settle(frame);
        return;
      case 'sync':
        // First what the dialog has, so that a new turn's frames come after it.
        watches.get(frame.sessionId)?.push(frame);
        onSync(frame);
        return;
      case 'history/add': {
        // A run may be told here before its first frame comes.
        const ids = new Set(turnsOf(frame.sessionId).map((turn) => turn.messageId));
        for (const { messageId, runId } of frame.content) {
          if (messageId !== undefined && ids.has(messageId)) rememberRun(runId);
        }
        const content = frame.content.filter((message) => !ownRuns.has(message.runId));
        if (content.length > 0) watches.get(frame.sessionId)?.push({ ...frame, content });
        return;
      }
      case 'context':
        watches.get(frame.sessionId)?.push(frame);
        return;
      case 'error':
        onAnswer(frame);
        onDialogError(frame);
        return;
      default:
        onAnswer(frame);
    }
  };

  /** The dialog cannot be followed: it was deleted, or its name is none. */
  const onDialogError = ({ sessionId, messageId, content }: ReceivedError) => {
    if (messageId !== undefined || sessionId === undefined || content.code === nothingToStop) return;
    if (!followed.delete(sessionId)) return;
    const error = new UserError(content.code, content.message);
    watches.get(sessionId)?.frames.fail(error);
    watches.delete(sessionId);
    for (const turn of turnsOf(sessionId)) {
      if (turn.isSent) continue;
      turns.delete(turn);
      turn.frames.fail(error);
    }
  };

  const onState = (next: ConnectionState) => {
    state = next;
    if (next.name === 'closed') endAll(closedError(next));
    options.onState?.(next);
  };

  const endAll = (error: unknown) => {
    signal.removeEventListener('abort', onAbort);
    cancelRetry?.();
    for (const turn of turns) turn.frames.fail(error);
    for (const watch of watches.values()) watch.frames.fail(error);
    for (const request of requests.values()) request.fail(error);
    turns.clear();
    watches.clear();
    requests.clear();
  };

  const onAbort = () => link.close(signal.reason);

  const ask = (frame: (messageId: string) => ClientFrame): Promise<unknown> => {
    if (state.name === 'closed') return Promise.reject(closedError(state));
    if (requests.size >= maxPendingRequests) {
      return Promise.reject(new UserError('too_many_requests', 'Too many requests wait for their answers.'));
    }
    const messageId = newId();
    return new Promise((resolve, reject) => {
      const cancel = clock.after(requestTimeoutMs, () => {
        requests.delete(messageId);
        reject(new UserError('no_answer', 'The server did not answer in time.'));
      });
      const request: Request = {
        frame: frame(messageId),
        settle({ status, data }) {
          cancel();
          requests.delete(messageId);
          if (status === 'success') resolve(data);
          else reject(errorOf(data));
        },
        fail(error) {
          cancel();
          reject(error);
        },
      };
      requests.set(messageId, request);
      link.send(request.frame);
    });
  };

  signal.throwIfAborted();
  const link: Link = createLink({
    openSocket: () => openSocket(options),
    findRefusal: () => findRefusal(options),
    clock,
    random: options.random ?? Math.random,
    onState,
    onOpen,
    onFrame,
    onLost,
  });
  signal.addEventListener('abort', onAbort);

  return {
    send(text, { sessionId = 'default', messageId = newId() } = {}) {
      if (state.name === 'closed') throw closedError(state);
      if (turns.size >= maxPendingTurns) {
        throw new UserError('too_many_turns', `${maxPendingTurns} messages wait for their answers already.`);
      }
      const turn = new PendingTurn({ sessionId, messageId, text, onLeft: finish });
      turns.add(turn);
      if (isOpen() && followed.get(sessionId) !== false) sendTurn(turn);
      return {
        sessionId,
        messageId,
        stop() {
          turn.isStopWanted = true;
          if (turn.isSent || (turn.hasBegun && followed.get(sessionId))) link.send(turn.stopFrame());
        },
        [Symbol.asyncIterator]: () => turn.frames,
      };
    },
    stop: (sessionId = 'default') => link.send({ type: 'stop', sessionId }),
    subscribe(sessionId = 'default') {
      if (state.name === 'closed') throw closedError(state);
      watches.get(sessionId)?.frames.end();
      const watch: Watch = new Watch(() => {
        if (watches.get(sessionId) !== watch) return;
        watches.delete(sessionId);
        leaveUnneeded(sessionId);
      });
      watches.set(sessionId, watch);
      if (isOpen()) follow(sessionId);
      return watch.frames;
    },
    system: (act) => ask((messageId) => ({ type: 'system', messageId, content: { act } })),
    setting: (act, data) => ask((messageId) => ({ type: 'setting', messageId, content: { act, data } })),
    get state() {
      return state;
    },
    close: () => link.close(),
  };
}

function openSocket({ WebSocket, token, url, channel, chat }: ClientOptions): Socket {
  // Browsers pass over the third argument; their cookie says who they are.
  return new WebSocket(socketAddress({ url, channel, chat }), [], {
    headers: { authorization: `Bearer ${token}` },
    handshakeTimeout: 15_000,
    closeTimeout: 1000,
    maxPayload: 64 * 1024 * 1024,
    perMessageDeflate: false,
  });
}

function closedError(state: ConnectionState): unknown {
  const error = state.name === 'closed' ? state.error : undefined;
  return error ?? new UserError('closed', 'The client was closed.');
}

function errorOf(data: unknown): UserError {
  const { code, message } = (data ?? {}) as { code?: string; message?: string };
  return new UserError(code ?? 'request_failed', message ?? 'The server could not do that.');
}

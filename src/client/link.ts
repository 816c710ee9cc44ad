/**
 * One WebSocket that comes back by itself with growing pauses until it is closed or the server refuses us for good.
 * Nothing is queued here: whoever uses it sends again in `onOpen`.
 */
import { UserError } from '../protocol/errors.js';
import type { ClientFrame } from '../protocol/frames.js';
import type { Clock } from './clock.js';
import { type ReceivedFrame, readFrames } from './read-frames.js';
import { reconnectPauseMs } from './reconnect-pause.js';

/** The part of WebSocket that we use; browsers' and the `ws` package's fit. */
export interface Socket {
  readonly readyState: number;
  send(text: string): void;
  close(): void;
  addEventListener(type: 'open' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
  addEventListener(type: 'close', listener: (event: { code: number; reason: string }) => void): void;
}

export type ConnectionState =
  /** `isRetry`: an earlier attempt failed or the connection broke. */
  | { name: 'connecting'; isRetry: boolean }
  | { name: 'open'; isRetry: boolean }
  /** The next attempt comes after `pauseMs`. */
  | { name: 'waiting'; pauseMs: number }
  /** For good; with `error` when the server refused us. */
  | { name: 'closed'; error?: unknown };

export interface LinkOptions {
  openSocket(): Socket;
  /** Why a socket could not be opened, when trying again would not help. */
  findRefusal(): Promise<UserError | undefined>;
  clock: Clock;
  random(): number;
  onState(state: ConnectionState): void;
  onOpen(): void;
  onFrame(frame: ReceivedFrame): void;
  /** The socket is gone; `code` says why, 1006 when the network broke. */
  onLost(code: number): void;
}

export interface Link {
  /** False when the socket is not open; the frame is then dropped. */
  send(frame: ClientFrame): boolean;
  close(error?: unknown): void;
}

/** Silence after which the server is asked for a sign of life, and how long that may take. */
export const idleMs = 30_000;
export const answerMs = 10_000;
const policyCode = 1008;
const openState = 1;

export function createLink(options: LinkOptions): Link {
  const { clock } = options;
  let socket: Socket | undefined;
  let failedAttempts = 0;
  let isRetry = false;
  let isClosed = false;
  let cancelTimer = () => {};

  const schedule = (ms: number, action: () => void) => {
    cancelTimer();
    cancelTimer = clock.after(ms, action);
  };

  const connect = () => {
    options.onState({ name: 'connecting', isRetry });
    const opened = options.openSocket();
    let wasOpen = false;
    socket = opened;
    opened.addEventListener('open', () => {
      if (socket !== opened) return;
      wasOpen = true;
      listen();
      options.onState({ name: 'open', isRetry });
      options.onOpen();
    });
    opened.addEventListener('message', ({ data }) => {
      if (socket !== opened) return;
      failedAttempts = 0;
      listen();
      receive(data);
    });
    // The close event that follows says the same.
    opened.addEventListener('error', () => {});
    opened.addEventListener('close', ({ code, reason }) => {
      if (socket === opened) void lost(wasOpen, code, reason);
    });
  };

  const receive = (data: unknown) => {
    try {
      for (const frame of readFrames(data)) options.onFrame(frame);
    } catch (error) {
      link.close(error);
    }
  };

  const lost = async (wasOpen: boolean, code: number, reason: string) => {
    socket = undefined;
    isRetry = true;
    cancelTimer();
    options.onLost(code);
    if (code === policyCode) {
      link.close(new UserError('refused', `The server refused the connection: ${reason || 'no reason given'}.`));
      return;
    }
    const refusal = wasOpen ? undefined : await options.findRefusal();
    if (isClosed) return;
    if (refusal) {
      link.close(refusal);
      return;
    }
    const pauseMs = reconnectPauseMs(failedAttempts, options.random());
    failedAttempts += 1;
    schedule(pauseMs, connect);
    options.onState({ name: 'waiting', pauseMs });
  };

  /** Starts the silence clock anew; called for everything that arrives. */
  const listen = () => schedule(idleMs, askForLife);

  const askForLife = () => {
    const asked = socket;
    if (!asked || !link.send({ type: 'system', content: { act: 'getVersion' } })) return;
    schedule(answerMs, () => {
      // A vanished peer never answers the closing handshake: do not wait for the close event.
      void lost(true, 1006, '');
      asked.close();
    });
  };

  const link: Link = {
    send(frame) {
      if (socket?.readyState !== openState) return false;
      socket.send(JSON.stringify(frame));
      return true;
    },
    close(error) {
      if (isClosed) return;
      isClosed = true;
      cancelTimer();
      const open = socket;
      socket = undefined;
      open?.close();
      options.onState(error === undefined ? { name: 'closed' } : { name: 'closed', error });
    },
  };
  connect();
  return link;
}

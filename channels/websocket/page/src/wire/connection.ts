/**
 * One WebSocket that comes back by itself, with growing pauses, until the gateway refuses the token.
 * Whoever uses it subscribes again in `onOpen`; nothing is queued here.
 */
import { reconnectPauseMs } from './backoff.js';
import { type ClientFrame, type PageFrame, readFrames } from './frames.js';
import type { Socket, SocketListener } from './socket.js';

export type ConnectionState =
  /** `isRetry`: an earlier attempt failed or the connection broke. */
  | { name: 'connecting'; isRetry: boolean }
  | { name: 'open' }
  /** Waiting for the next attempt; `retryAt` in ms since the epoch. */
  | { name: 'waiting'; retryAt: number }
  /** The gateway knows this browser no longer: connecting again would not help. */
  | { name: 'unauthorized' };

export interface ConnectionOptions {
  openSocket(listener: SocketListener): Socket;
  /** Asked after a socket could not be opened, because a browser does not say why. */
  isUnauthorized(): Promise<boolean>;
  onState(state: ConnectionState): void;
  onOpen(): void;
  onFrame(frame: PageFrame): void;
  /** The gateway closed the socket because one frame was too large (close code 1009). */
  onFrameTooLarge(): void;
  now(): number;
  random(): number;
}

export interface Connection {
  start(): void;
  /** False when the socket is not open; the frame is then dropped. */
  send(frame: ClientFrame): boolean;
  /** Connects now instead of at the end of the pause. */
  retryNow(): void;
  /** The computer woke up or found a network: finds out soon whether the other side is still there. */
  probe(): void;
}

/** Silence after which the other side is asked for a sign of life, and how long that may take. */
const idleMs = 30_000;
const answerMs = 8_000;
const frameTooLargeCode = 1009;

export function createConnection(options: ConnectionOptions): Connection {
  let socket: Socket | undefined;
  let failedAttempts = 0;
  let isRetry = false;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let idleTimer: ReturnType<typeof setTimeout> | undefined;
  let answerTimer: ReturnType<typeof setTimeout> | undefined;

  const connect = () => {
    clearTimeout(retryTimer);
    options.onState({ name: 'connecting', isRetry });
    let wasOpen = false;
    const opened: Socket = options.openSocket({
      opened() {
        wasOpen = true;
        options.onState({ name: 'open' });
        watch();
        options.onOpen();
      },
      received(text) {
        if (socket !== opened) return;
        failedAttempts = 0;
        watch();
        for (const frame of readFrames(text)) options.onFrame(frame);
      },
      closed(code) {
        if (socket !== opened) return;
        if (code === frameTooLargeCode) options.onFrameTooLarge();
        void closed(wasOpen);
      },
    });
    socket = opened;
  };

  const closed = async (wasOpen: boolean) => {
    socket = undefined;
    isRetry = true;
    clearTimeout(idleTimer);
    clearTimeout(answerTimer);
    if (!wasOpen && (await options.isUnauthorized())) {
      options.onState({ name: 'unauthorized' });
      return;
    }
    if (socket) return;
    const pauseMs = reconnectPauseMs(failedAttempts, options.random());
    failedAttempts += 1;
    retryTimer = setTimeout(connect, pauseMs);
    options.onState({ name: 'waiting', retryAt: options.now() + pauseMs });
  };

  /** Restarts the silence clock; called for everything that arrives. */
  const watch = () => {
    clearTimeout(idleTimer);
    clearTimeout(answerTimer);
    answerTimer = undefined;
    idleTimer = setTimeout(askForLife, idleMs);
  };

  const askForLife = () => {
    const asked = socket;
    if (answerTimer !== undefined || !connection.send({ type: 'system', content: { act: 'getVersion' } })) return;
    answerTimer = setTimeout(() => {
      if (socket !== asked || !asked) return;
      // A vanished peer never answers the closing handshake: do not wait for the close event.
      asked.close();
      void closed(true);
    }, answerMs);
  };

  const connection: Connection = {
    start: connect,
    send(frame) {
      return socket?.send(JSON.stringify(frame)) ?? false;
    },
    retryNow() {
      if (!socket) connect();
    },
    probe() {
      if (socket) askForLife();
      else connect();
    },
  };
  return connection;
}

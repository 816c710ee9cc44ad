/** What the client's tests share: the real doors over an in-memory daemon, a proxy that cuts, a clock that does not wait. */
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { type Client, type ClientOptions, connect } from '../../src/client/client.js';
import type { Clock } from '../../src/client/clock.js';
import type { AnswerFrame, ClientTurn } from '../../src/client/turn.js';
import { startServer, type TestServer, type TestServerOptions, token } from '../gateway/server.js';
import { type CuttingProxy, startProxy } from './cutting-proxy.js';

export interface Ground {
  server: TestServer;
  proxy: CuttingProxy;
  client(options?: Partial<ClientOptions>): Client;
}

export async function startGround(options: TestServerOptions = {}): Promise<Ground> {
  const server = await startServer(options);
  const proxy = await startProxy(server.port);
  const clients: Client[] = [];
  onTestFinished(async () => {
    for (const client of clients) client.close();
    await proxy.close();
    await server.close();
  });
  return {
    server,
    proxy,
    client(more = {}) {
      const client = connect({
        url: proxy.url,
        token,
        channel: 'cli_chat',
        signal: new AbortController().signal,
        WebSocket,
        clock: hastyClock(),
        random: () => 0,
        ...more,
      });
      clients.push(client);
      return client;
    },
  };
}

/** Pauses pass at once; what only a broken peer runs into (`neverMs` and more) never comes. */
export function hastyClock(neverMs = 10_000): Clock {
  return {
    after(ms, action) {
      if (ms >= neverMs) return () => {};
      const timer = setTimeout(action, 1);
      return () => clearTimeout(timer);
    },
  };
}

export interface ManualClock extends Clock {
  /** Runs what waits for at most `ms`, without the time before it. */
  pass(ms: number): void;
  readonly waiting: number[];
}

export function manualClock(): ManualClock {
  const timers = new Set<{ ms: number; action: () => void }>();
  return {
    after(ms, action) {
      const timer = { ms, action };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    pass(ms) {
      for (const timer of [...timers]) {
        if (timer.ms > ms || !timers.delete(timer)) continue;
        timer.action();
      }
    },
    get waiting() {
      return [...timers].map((timer) => timer.ms).sort((one, other) => one - other);
    },
  };
}

export async function framesOf(turn: AsyncIterable<AnswerFrame>): Promise<AnswerFrame[]> {
  const frames: AnswerFrame[] = [];
  for await (const frame of turn) frames.push(frame);
  return frames;
}

export function textOf(frames: readonly AnswerFrame[]): string {
  return frames.flatMap((frame) => (frame.type === 'text' ? [frame.content] : [])).join('');
}

export async function answerOf(turn: ClientTurn): Promise<string> {
  return textOf(await framesOf(turn));
}

/** Waits for what other parts do on their own. */
export async function until(isSo: () => boolean, what = 'the condition', timeoutMs = 10_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error(`${what} did not come true`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

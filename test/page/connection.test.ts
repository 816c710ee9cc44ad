import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createConnection } from '../../channels/websocket/page/src/wire/connection.js';
import type { SocketListener } from '../../channels/websocket/page/src/wire/socket.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A connection over sockets that the test opens, feeds and closes. */
function setUp(options: { isUnauthorized?: boolean } = {}) {
  const sockets: (SocketListener & { sent: string[]; isClosed: boolean })[] = [];
  const states: string[] = [];
  const seen = { opens: 0, tooLarge: 0, frames: [] as string[] };
  const connection = createConnection({
    openSocket(listener) {
      const socket = { ...listener, sent: [] as string[], isClosed: false };
      sockets.push(socket);
      return {
        send: (text) => socket.sent.push(text) > 0,
        close: () => {
          socket.isClosed = true;
        },
      };
    },
    isUnauthorized: () => Promise.resolve(options.isUnauthorized ?? false),
    onState: (state) => states.push(state.name),
    onOpen: () => {
      seen.opens += 1;
    },
    onFrame: (frame) => seen.frames.push(frame.type),
    onFrameTooLarge: () => {
      seen.tooLarge += 1;
    },
    now: () => Date.now(),
    random: () => 0,
  });
  connection.start();
  return { connection, sockets, states, seen, newest: () => sockets.at(-1)! };
}

const answer = JSON.stringify({ type: 'system', status: 'success', act: 'getVersion', data: {} });

test('pauses grow while nothing answers, and start small again after a word from the gateway', async () => {
  const { sockets, newest, states } = setUp();
  newest().closed(1006);
  await vi.advanceTimersByTimeAsync(499);
  expect(sockets).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(sockets).toHaveLength(2);
  newest().closed(1006);
  await vi.advanceTimersByTimeAsync(999);
  expect(sockets).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1);
  newest().opened();
  newest().received(answer);
  newest().closed(1006);
  await vi.advanceTimersByTimeAsync(500);
  expect(sockets).toHaveLength(4);
  expect(states).toEqual([
    ...['connecting', 'waiting', 'connecting', 'waiting', 'connecting', 'open', 'waiting', 'connecting'],
  ]);
});

test('a gateway that refuses the token is not asked again', async () => {
  const { sockets, states, newest } = setUp({ isUnauthorized: true });
  newest().closed(1006);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(sockets).toHaveLength(1);
  expect(states.at(-1)).toBe('unauthorized');
});

test('a peer that has vanished without a word is noticed, and its late close does no harm', async () => {
  const { sockets, newest, seen } = setUp();
  newest().opened();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(newest().sent.map((text) => JSON.parse(text).type)).toEqual(['system']);
  await vi.advanceTimersByTimeAsync(8_000);
  expect(newest().isClosed).toBe(true);
  await vi.advanceTimersByTimeAsync(500);
  expect(sockets).toHaveLength(2);
  newest().opened();
  sockets[0]!.closed(1006);
  sockets[0]!.received(answer);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(sockets).toHaveLength(2);
  expect(seen).toMatchObject({ opens: 2, frames: [] });
});

test('a peer that answers is left alone', async () => {
  const { sockets, newest } = setUp();
  newest().opened();
  for (let round = 0; round < 5; round++) {
    await vi.advanceTimersByTimeAsync(30_000);
    newest().received(answer);
  }
  expect(sockets).toHaveLength(1);
  expect(newest().isClosed).toBe(false);
});

test('a network that is back does not wait for the end of the pause', async () => {
  const { connection, sockets, newest } = setUp();
  newest().closed(1006);
  await vi.advanceTimersByTimeAsync(0);
  connection.probe();
  expect(sockets).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(sockets).toHaveLength(2);
});

test('a frame that was too large is told apart from a lost connection', async () => {
  const { newest, seen } = setUp();
  newest().opened();
  newest().closed(1009);
  expect(seen.tooLarge).toBe(1);
});

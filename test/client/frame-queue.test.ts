import { expect, test } from 'vitest';
import { FrameQueue, maxWaitingSize } from '../../src/client/frame-queue.js';
import type { ReceivedFrame } from '../../src/client/read-frames.js';
import { turnFrames } from './fake-server.js';

const text = (content: string, runId = 'run_1') =>
  turnFrames('m', runId).text(content, content.length) as ReceivedFrame;

test('texts that wait are joined, up to the next frame of another kind or run', async () => {
  const queue = new FrameQueue<ReceivedFrame>();
  for (const frame of [text('a'), text('bc'), text('x', 'run_2'), turnFrames('m').notice('n'), text('d')]) {
    queue.push(frame as ReceivedFrame);
  }
  queue.end();
  const seen = [];
  for await (const frame of queue) seen.push([frame.type, (frame as { content: string }).content]);
  expect(seen).toEqual([
    ['text', 'abc'],
    ['text', 'x'],
    ['notice', 'n'],
    ['text', 'd'],
  ]);
});

test('a reader that never reads costs no more than the bound, and is told', async () => {
  const queue = new FrameQueue<ReceivedFrame>();
  const part = 'x'.repeat(1024 * 1024);
  for (let size = 0; size <= maxWaitingSize; size += part.length) queue.push(text(part));
  await expect(queue.next()).rejects.toMatchObject({ code: 'reader_too_slow' });
  expect(await queue.next()).toEqual({ done: true, value: undefined });
});

test('a reader that waits gets what comes, then the error', async () => {
  const queue = new FrameQueue<ReceivedFrame>();
  const first = queue.next();
  queue.push(text('a'));
  expect((await first).value).toMatchObject({ content: 'a' });
  const second = queue.next();
  queue.fail(new Error('gone'));
  await expect(second).rejects.toThrow('gone');
});

import { expect, test } from 'vitest';
import { keyOfHash } from '../../channels/websocket/page/src/dialog-hash.js';
import { createGrowingText } from '../../channels/websocket/page/src/markdown/growing-text.js';
import { dialogKey } from '../../channels/websocket/page/src/wire/api.js';
import { reconnectPauseMs } from '../../channels/websocket/page/src/wire/backoff.js';
import { readFrames } from '../../channels/websocket/page/src/wire/frames.js';
import type { SessionSummary } from '../../src/protocol/control.js';
import { sessionId } from '../../src/protocol/ids.js';

test('pauses between attempts grow from half a second to half a minute', () => {
  expect([0, 1, 2, 5, 6, 50].map((attempt) => reconnectPauseMs(attempt, 0))).toEqual([
    500, 1000, 2000, 16_000, 30_000, 30_000,
  ]);
  expect(reconnectPauseMs(2, 1)).toBe(1500);
});

test('one text message holds several frames, and unknown or broken-shaped ones are passed over', () => {
  const text = { type: 'text', sessionId: 'default', messageId: 'm', runId: 'r', eventId: 1, content: 'a' };
  const lines = [text, { type: 'from-the-future' }, { ...text, eventId: 'one' }, { type: 'end' }, 7];
  expect(readFrames(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`)).toEqual([text]);
});

test('a dialog of the page is named by its own id, one of another chat by the full id', () => {
  const of = (address: { channel: string; chatId: string; dialogId: string }) =>
    dialogKey({ ...address, id: sessionId(address) } as SessionSummary);
  expect(of({ channel: 'websocket', chatId: 'web', dialogId: 'd_1' })).toBe('d_1');
  expect(of({ channel: 'http', chatId: 'default', dialogId: 'd_1' })).toBe('http:default:d_1');
});

test('the hash names the dialog, and a broken one falls back', () => {
  expect(keyOfHash('#d_1', 'default')).toBe('d_1');
  expect(keyOfHash('#http%3Adefault%3Ad_1', 'default')).toBe('http:default:d_1');
  expect(keyOfHash('', 'default')).toBe('default');
  expect(keyOfHash('#%E0%A4%A', 'default')).toBe('default');
});

test('of a growing text only the last blocks are read again', () => {
  const read: string[] = [];
  const growing = createGrowingText((text) => {
    read.push(text);
    return text.split(/(?<=\n)/).map((raw) => ({ type: 'paragraph', raw, text: raw, tokens: [] }));
  });
  const lines = Array.from({ length: 10 }, (_, index) => `line ${index}\n`);
  growing.update(lines.slice(0, 9).join(''));
  const blocks = growing.update(lines.join(''));
  expect(read.at(-1)).toBe(lines.slice(6).join(''));
  expect(blocks.map((block) => block.raw)).toEqual(lines);
  expect(blocks.map((block) => block.key)).toEqual(lines.map((_, index) => index));
  expect(growing.update('another text').map((block) => block.raw)).toEqual(['another text']);
});

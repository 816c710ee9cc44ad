import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createWireErrors } from '../../src/providers/errors.js';
import { chatFrameRules } from '../../src/providers/frames/chat-frames.js';
import { createFrameStream } from '../../src/providers/frames/frame-stream.js';

const errors = createWireErrors({
  reference: 'fake/model',
  platformId: 'fake',
  platformName: 'Fake',
  host: 'localhost',
  keyVariables: [],
  redact: (text) => text,
  now: () => 0,
});

function through(chunks: Uint8Array[]): { text: string; untouched: number } {
  const frames = createFrameStream(chatFrameRules(), errors);
  let untouched = 0;
  const parts = chunks.map((chunk) => {
    const ready = frames.feed(chunk);
    if (ready === chunk) untouched++;
    return Buffer.from(ready);
  });
  return { text: Buffer.concat([...parts, Buffer.from(frames.end())]).toString(), untouched };
}

const payloadsOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => JSON.parse(line.slice(5)) as unknown);

const frame = fc.oneof(
  fc
    .string({ unit: 'grapheme' })
    .map((content) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
  fc.constantFrom<object>({ choices: null }, { choices: [] }, { id: 'x', usage: { prompt_tokens: 1 } }),
);

test('the same frames come out however the bytes were cut', () => {
  fc.assert(
    fc.property(
      fc.array(frame),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      fc.array(fc.nat()),
      (frames, newline, hasEnd, places) => {
        const lines = frames.map((value) => `data: ${JSON.stringify(value)}${newline}${newline}`).join('');
        const bytes = Buffer.from(`: hello${newline}${hasEnd ? lines : lines.trimEnd()}`);
        const ends = [...new Set(places.map((place) => place % (bytes.length + 1))), bytes.length].sort(
          (a, b) => a - b,
        );
        const chunks = ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
        const expected = frames.map((value) => ({ ...value, choices: (value as { choices?: unknown }).choices ?? [] }));
        expect(payloadsOf(through(chunks).text)).toEqual(expected);
      },
    ),
  );
});

test('whole lines that need nothing are handed on without a copy', () => {
  const line = `data: ${JSON.stringify({ choices: [{ delta: { content: 'Grüße 🙂 "error" "tool_calls"' } }] })}\n\n`;
  expect(through([Buffer.from(line), Buffer.from(line), Buffer.from('data: [DONE]\n\n')]).untouched).toBe(3);
});

test('an endless line is given up', () => {
  const frames = createFrameStream(chatFrameRules(), errors);
  frames.feed(Buffer.from('data: '));
  const piece = Buffer.alloc(1024 * 1024, 'x');
  expect(() => {
    for (let count = 0; count < 20; count++) frames.feed(piece);
  }).toThrow(/far too long/);
});

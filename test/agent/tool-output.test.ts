import { expect, test } from 'vitest';
import { maxOutputLength, tidyOutput } from '../../src/agent/tool-output.js';

test('ordinary output stays as it is', () => {
  expect(tidyOutput('a\n')).toBe('a\n');
  expect(tidyOutput('x'.repeat(maxOutputLength))).toBe('x'.repeat(maxOutputLength));
});

test('empty output says so', () => {
  expect(tidyOutput('')).toBe('(no output)');
  expect(tidyOutput(' \n')).toBe('(no output)');
});

test('long output keeps head and tail around its true size', () => {
  const output = `HEAD${'x'.repeat(1_000_000)}TAIL`;
  const tidy = tidyOutput(output);
  expect(tidy.length).toBeLessThanOrEqual(maxOutputLength);
  expect(tidy.startsWith('HEADx')).toBe(true);
  expect(tidy.endsWith('xTAIL')).toBe(true);
  expect(tidy).toContain('The output has 1000008 characters;');
});

test.each([0, 1])('no character is cut in half (shifted by %i)', (shift) => {
  const tidy = tidyOutput('x'.repeat(shift) + '😀'.repeat(100_000) + 'x'.repeat(1 - shift));
  expect(tidy).not.toMatch(/\p{Surrogate}|\ufffd/u);
  expect(tidy.length).toBeLessThanOrEqual(maxOutputLength);
});

test('what no wire takes is replaced', () => {
  expect(tidyOutput('a\0b\ud83dc')).toBe('a\ufffdb\ufffdc');
});

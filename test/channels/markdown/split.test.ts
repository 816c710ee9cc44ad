import fc from 'fast-check';
import type { Root } from 'mdast';
import { expect, test } from 'vitest';
import { parseMarkdown } from '../../../channels/markdown/parse.js';
import { toPlainText } from '../../../channels/markdown/plain.js';
import { splitTree } from '../../../channels/markdown/split.js';

const measure = (root: Root) => toPlainText(root).length;
const letters = (root: Root) => toPlainText(root).replace(/[\s>•|.☐☑\d]/g, '');

test('a code block longer than a message becomes complete blocks of the same language, no line lost', () => {
  for (const fence of ['```', '~~~']) {
    const lines = Array.from({ length: 400 }, (_, index) => `const v${index} = compute(${index});`);
    const parts = splitTree(parseMarkdown(`${fence}ts\n${lines.join('\n')}\n${fence}\n\nDone.`), 500, measure);
    const blocks = parts.flatMap((part) => part.children);
    const code = blocks.filter((block) => block.type === 'code');
    expect(code.map((block) => block.value).join('\n')).toBe(lines.join('\n'));
    expect(new Set(code.map((block) => block.lang))).toEqual(new Set(['ts']));
    expect(blocks.at(-1)?.type).toBe('paragraph');
    for (const part of parts) expect(measure(part)).toBeLessThanOrEqual(500);
  }
});

test('bold and links are closed and opened again where a paragraph is cut', () => {
  const words = '很长的句子，word '.repeat(60);
  const parts = splitTree(parseMarkdown(`**${words}end** [${words}](https://example.org/?a=1&b=2)`), 300, measure);
  expect(parts.length).toBeGreaterThan(3);
  expect(JSON.stringify(parts[0])).toContain('"strong"');
  expect(JSON.stringify(parts.at(-1))).toContain('https://example.org/?a=1&b=2');
});

test('a numbered list goes on with the next number, a table repeats its head', () => {
  const list = Array.from({ length: 50 }, (_, index) => `${index + 1}. item ${index + 1}`).join('\n');
  const lists = splitTree(parseMarkdown(list), 200, measure).flatMap((part) => part.children);
  const starts = lists.map((node) => (node.type === 'list' ? node.start : undefined));
  expect(starts[1]).toBe(1 + (lists[0]?.type === 'list' ? lists[0].children.length : 0));
  const rows = Array.from({ length: 50 }, (_, index) => `| ${index} | value |`).join('\n');
  for (const part of splitTree(parseMarkdown(`| id | name |\n|---|---|\n${rows}`), 200, measure))
    expect(toPlainText(part)).toMatch(/^id \| name/);
});

test('whatever the text and the limit: parts fit, order and letters stay, no character is cut', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 120 }),
    fc.constantFrom(
      '**粗体**',
      '`code`',
      '\n\n',
      '\n- item ',
      '\n1. one ',
      '\n> quote ',
      '\n```js\nx\n```\n',
      '👩‍👩‍👧‍👦',
      '[a](https://e.org)',
    ),
    fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => `\n| a | b |\n|---|---|\n| ${text} | y |\n`),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 40, max: 300 }), (pieces, limit) => {
      const root = parseMarkdown(pieces.join(''));
      const parts = splitTree(root, limit, measure);
      for (const part of parts) {
        expect(measure(part)).toBeLessThanOrEqual(limit);
        expect(toPlainText(part)).not.toMatch(/^[\udc00-\udfff]|[\ud800-\udbff]$/);
      }
      const whole = letters(root);
      const joined = parts.map(letters).join('');
      // A repeated table head may add letters, nothing may be missing.
      if (!whole.includes('ab')) expect(joined).toBe(whole);
    }),
    { numRuns: 300 },
  );
});

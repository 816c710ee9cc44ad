import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cleanLine, cleanText, TextCleaner } from '../../src/cli/terminal/clean-text.js';
import { MarkdownStyler } from '../../src/cli/terminal/markdown-styler.js';
import { createScreen } from '../../src/cli/terminal/screen.js';
import { createStyle, wantsColor } from '../../src/cli/terminal/style.js';
import { tableText } from '../../src/cli/terminal/table.js';
import { fitWidth, padWidth, textWidth } from '../../src/cli/terminal/text-width.js';
import { toolLine } from '../../src/cli/terminal/tool-line.js';
import { VisibleScreen } from './visible-screen.js';

describe('width', () => {
  test.each([
    ['plain', 5],
    ['你好', 4],
    ['ｆｕｌｌ', 8],
    ['한국어', 6],
    ['e\u0301', 1],
    ['👍🏽', 2],
    ['👨‍👩‍👧', 2],
    ['🇨🇳', 2],
    ['❤️', 2],
    ['a\u200bb', 2],
    ['→ ⚙ ✗', 5],
    ['。，！', 6],
    ['𠮷', 2],
    ['', 0],
  ])('of %s is %i', (text, width) => {
    expect(textWidth(text)).toBe(width);
  });

  test('cut and padded texts take the columns they are given', () => {
    expect(fitWidth('你好世界', 8)).toBe('你好世界');
    expect(fitWidth('你好世界', 7)).toBe('你好世…');
    expect(fitWidth('你好世界', 6)).toBe('你好…');
    expect(fitWidth('abc', 0)).toBe('');
    expect(padWidth('你', 4)).toBe('你  ');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 30 }), (text, columns) => {
        expect(textWidth(fitWidth(text, columns))).toBeLessThanOrEqual(columns);
      }),
    );
  });
});

describe('cleaning', () => {
  test('leaves nothing that a terminal obeys', () => {
    expect(cleanText('a\x1b]0;t\x07b\x1b[2J\x9bc\rd\x00\x7f\u202e\u2066\u2028e\tf\ng')).toBe('a]0;tb[2Jcde\tf\ng');
    expect(cleanText('half \ud83d of one')).toBe('half \ufffd of one');
    expect(cleanText('👨‍👩‍👧 שלום مرحبا')).toBe('👨‍👩‍👧 שלום مرحبا');
    expect(cleanLine('  two\n lines\t ')).toBe('two lines');
  });

  test('is the same in whatever pieces the text comes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat(20)), (text, cuts) => {
        const cleaner = new TextCleaner();
        let out = '';
        let at = 0;
        for (const size of cuts) {
          out += cleaner.push(text.slice(at, at + size));
          at += size;
        }
        out += cleaner.push(text.slice(at)) + cleaner.end();
        expect(out).toBe(cleanText(text));
      }),
    );
  });
});

describe('Markdown', () => {
  const style = createStyle(true);
  const paint = (text: string) => {
    const styler = new MarkdownStyler(style);
    return styler.push(text) + styler.end();
  };
  const { on, off } = style;

  test('headings, bold and code are painted', () => {
    expect(paint('# Title\ntext')).toBe(`${on('heading')}# Title${off('heading')}\ntext`);
    expect(paint('a **b c** d')).toBe(`a ${on('bold')}**b c**${off('bold')} d`);
    expect(paint('run `npm i` now')).toBe(`run ${on('code')}\`npm i\`${off('code')} now`);
    expect(paint('``a ` b``')).toBe(`${on('code')}\`\`a \` b\`\`${off('code')}`);
    expect(paint('- **x**: 1')).toBe(`- ${on('bold')}**x**${off('bold')}: 1`);
    const block = '```js\nlet a = "**";\n# no title\n```\nafter';
    expect(paint(block)).toBe(
      [
        `${on('dim')}\`\`\`js${off('dim')}`,
        `${on('code')}let a = "**";${off('code')}`,
        `${on('code')}# no title${off('code')}`,
        `${on('dim')}\`\`\`${off('dim')}`,
        'after',
      ].join('\n'),
    );
  });

  test('what only looks like it is left alone, and nothing is painted beyond its line', () => {
    for (const text of ['2 ** 3 ** 4', '#hashtag', 'a * b * c', '####### seven', '5*3', '* item', '***', '~ about']) {
      expect(paint(text)).toBe(text);
    }
    expect(paint('a **b\nc')).toBe(`a ${on('bold')}**b${off('bold')}\nc`);
    expect(paint('a `b\nc')).toBe(`a ${on('code')}\`b${off('code')}\nc`);
  });

  test('the text itself never changes, whatever it is and in whatever pieces it comes', () => {
    const word = fc.oneof(fc.constantFrom('*', '**', '`', '```', '#', ' ', '\n', '~~~', '   ', '你好'), fc.string());
    fc.assert(
      fc.property(fc.array(word), fc.integer({ min: 1, max: 5 }), (words, size) => {
        const text = words.join('');
        const plain = new MarkdownStyler(createStyle(false));
        const coloured = new MarkdownStyler(style);
        let out = '';
        let painted = '';
        for (let at = 0; at < text.length; at += size) {
          out += plain.push(text.slice(at, at + size));
          painted += coloured.push(text.slice(at, at + size));
        }
        painted += coloured.end();
        expect(out + plain.end()).toBe(text);
        expect(painted).toBe(paint(text));
        for (const look of ['bold', 'dim', 'heading', 'code'] as const) {
          painted = painted.replaceAll(on(look), '').replaceAll(off(look), '');
        }
        expect(painted).toBe(text);
      }),
      { numRuns: 500 },
    );
  });
});

describe('colours', () => {
  test('are wanted on terminals that can show them, by people who like them', () => {
    expect(wantsColor({ isTTY: true }, {})).toBe(true);
    expect(wantsColor({ isTTY: true }, { NO_COLOR: '' })).toBe(true);
    expect(wantsColor({ isTTY: true }, { NO_COLOR: '1' })).toBe(false);
    expect(wantsColor({ isTTY: true }, { TERM: 'dumb' })).toBe(false);
    expect(wantsColor({}, {})).toBe(false);
  });
});

describe('tables', () => {
  const columns = [{ title: 'ID' }, { title: 'TITLE', isFlexible: true }, { title: 'COUNT' }];
  const rows = [
    ['a', '关于数据库迁移的讨论', '12'],
    ['long-id', 'plain\n\x1b[2Jtext', '3'],
  ];

  test('line up with wide characters, and nothing is cut for programs', () => {
    expect(tableText(columns, rows)).toBe(
      [
        'ID       TITLE                 COUNT',
        'a        关于数据库迁移的讨论  12',
        'long-id  plain [2Jtext         3',
        '',
      ].join('\n'),
    );
  });

  test('fit a terminal', () => {
    const lines = tableText(columns, rows, 30).trimEnd().split('\n');
    expect(lines[1]).toBe('a        关于数据库迁…   12');
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(30);
  });
});

describe('tool lines', () => {
  test.each([
    [{ name: 'calculator', input: { expression: '17*23' }, state: 'done', result: '391' }, '⚙ calculator 17*23 → 391'],
    [{ name: 'clock', input: {}, state: 'running' }, '⚙ clock …'],
    [
      { name: 'search', input: { a: 1, b: ['x'] }, state: 'failed', result: 'no\nluck' },
      '⚙ search {"a":1,"b":["x"]} ✗ no luck',
    ],
    [{ name: 'x\x1b[1m', input: 'raw \x07text', state: 'interrupted', result: '' }, '⚙ x[1m raw text ⏹'],
    [{ name: 'list', input: { items: [1, 2] }, state: 'done' }, '⚙ list {"items":[1,2]} →'],
    [{ name: 'none', input: null, state: 'done', result: 'ok' }, '⚙ none → ok'],
  ] as const)('of %j', (view, line) => {
    expect(toolLine(view as never)).toBe(line);
  });

  test('of huge inputs and results stay short', () => {
    const line = toolLine({ name: 'read', input: { path: 'x'.repeat(1e6) }, state: 'done', result: 'y'.repeat(1e6) });
    expect(line.length).toBeLessThan(5000);
  });
});

describe('the screen', () => {
  test('a status is gone when the next thing is written, notes stand on lines of their own', () => {
    const seen = new VisibleScreen(40);
    const screen = createScreen({ out: { isTTY: true, columns: 40, write: (text) => seen.write(text) } });
    screen.status('working …');
    expect(seen.text).toBe('working …');
    screen.write('half a ');
    screen.note('a note');
    screen.write('line');
    screen.status('more …');
    screen.freshLine();
    screen.note('end');
    expect(seen.text).toBe('half a\na note\nline\nend');
  });

  test('without a terminal notes go to stderr and a status nowhere', () => {
    let out = '';
    let notes = '';
    const screen = createScreen({
      out: { write: (text: string) => (out += text) },
      notes: { write: (text: string) => (notes += text) },
    });
    screen.status('working');
    screen.write('answer');
    screen.note('a note');
    screen.freshLine();
    expect([out, notes]).toEqual(['answer\n', 'a note\n']);
  });
});

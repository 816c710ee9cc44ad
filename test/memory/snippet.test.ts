import fc from 'fast-check';
import { expect, test } from 'vitest';
import { normalise } from '../../src/memory/normalise.js';
import { snippetOf } from '../../src/memory/snippet.js';

const needle = (text: string, isWord = false) => ({ text: normalise(text), isWord });

test('hits are marked in the original spelling', () => {
  expect(snippetOf('Ｆｕｌｌ width and CAFÉ', [needle('full'), needle('cafe')])).toBe('⟦Ｆｕｌｌ⟧ width and ⟦CAFÉ⟧');
  expect(snippetOf('在臺灣的圖書館', [needle('台湾'), needle('图书馆')])).toBe('在⟦臺灣⟧的⟦圖書館⟧');
});

test('overlapping hits are one, and words match from their beginning only', () => {
  expect(snippetOf('机器学习', [needle('机器'), needle('机器学习'), needle('学习')])).toBe('⟦机器学习⟧');
  expect(snippetOf('brunch and run', [needle('run', true)])).toBe('brunch and ⟦run⟧');
});

test('a long text is cut around most of its hits', () => {
  const text = `${'x '.repeat(500)}tea ${'y '.repeat(300)}tea with tea${' z'.repeat(500)}`;
  expect(snippetOf(text, [needle('tea', true)], 80)).toMatch(/^…(y )+⟦tea⟧ with ⟦tea⟧( z)+…$/);
});

test('any text and any needle give a snippet of bounded length with balanced marks', () => {
  const text = fc.string({ unit: 'binary', maxLength: 400 });
  fc.assert(
    fc.property(text, text, (source, wanted) => {
      const snippet = snippetOf(
        source.replace(/[⟦⟧]/g, ''),
        wanted === '' ? [] : [needle(wanted)].filter((n) => n.text !== ''),
        60,
      );
      expect(snippet.split('⟦').length).toBe(snippet.split('⟧').length);
      expect(snippet.replace(/[⟦⟧]/g, '').length).toBeLessThanOrEqual(62);
      expect(!/\p{Surrogate}/u.test(snippet)).toBe(true);
    }),
  );
});

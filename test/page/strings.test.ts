import { expect, test } from 'vitest';
import { en } from '../../channels/websocket/page/src/text/en.js';
import { ageGroup, createTexts } from '../../channels/websocket/page/src/text/texts.js';
import { zh } from '../../channels/websocket/page/src/text/zh.js';

const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();

test('every text exists in English and Chinese, with the same places to fill in', () => {
  expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort());
  for (const [key, text] of Object.entries(en)) {
    const chinese = zh[key as keyof typeof en];
    expect(chinese, key).not.toBe('');
    expect(placeholders(chinese), key).toEqual(placeholders(text));
  }
});

test('no text stays in English by oversight', () => {
  const same = Object.entries(en).filter(([key, text]) => zh[key as keyof typeof en] === text);
  expect(same.map(([key]) => key)).toEqual(['appName', 'suggestionHelp']);
});

test('Chinese texts use Chinese punctuation', () => {
  const wrong = Object.entries(zh).filter(([, text]) => /\p{Script=Han}[,?!:;]|[,?!:;]\p{Script=Han}/u.test(text));
  expect(wrong).toEqual([]);
});

test('the first language of the browser that the page speaks is taken', () => {
  expect(createTexts(['zh-TW', 'en']).language).toBe('zh-CN');
  expect(createTexts(['de-DE', 'zh-CN']).language).toBe('zh-CN');
  expect(createTexts(['fr']).language).toBe('en');
  expect(createTexts([]).t('retryIn', { seconds: 3 })).toContain('3 s');
});

test('dialogs are grouped by calendar days, not by hours', () => {
  const now = new Date(2026, 4, 10, 1, 0).getTime();
  const hoursAgo = (hours: number) => ageGroup(now - hours * 3_600_000, now);
  expect([0, 2, 30, 24 * 5, 24 * 9].map(hoursAgo)).toEqual(['today', 'yesterday', 'lastWeek', 'lastWeek', 'earlier']);
});

import { expect, test } from 'vitest';
import { dateOf, instantOf, startOfDay, startOfNextDay } from '../../src/memory/days.js';
import { timeMentioned } from '../../src/memory/time-mentions.js';

/** Wednesday, 18 November 2026, noon in Shanghai. */
const now = Date.UTC(2026, 10, 18, 4);
const zone = 'Asia/Shanghai';
const day = (at: number) => {
  const { year, month, day } = dateOf(at, zone);
  return `${year}-${month}-${day}`;
};

test.each([
  ['今天说了什么', '2026-11-18', '2026-11-18'],
  ['what did I say this morning?', '2026-11-18', '2026-11-18'],
  ['昨天的会议', '2026-11-17', '2026-11-17'],
  ['the call yesterday', '2026-11-17', '2026-11-17'],
  ['前天', '2026-11-16', '2026-11-16'],
  ['大前天晚上', '2026-11-15', '2026-11-15'],
  ['三天前', '2026-11-15', '2026-11-15'],
  ['5 days ago', '2026-11-13', '2026-11-13'],
  ['上周', '2026-11-9', '2026-11-15'],
  ['last week', '2026-11-9', '2026-11-15'],
  ['上周五', '2026-11-13', '2026-11-13'],
  ['这周一', '2026-11-16', '2026-11-16'],
  ['上个月', '2026-10-1', '2026-10-31'],
  ['this month', '2026-11-1', '2026-11-30'],
  ['on Monday', '2026-11-16', '2026-11-16'],
  ['星期日', '2026-11-15', '2026-11-15'],
  ['11月3日', '2026-11-3', '2026-11-3'],
  ['12 月 24 号', '2025-12-24', '2025-12-24'],
  ['2026-01-31', '2026-1-31', '2026-1-31'],
  ['２０２６年１月３１日', '2026-1-31', '2026-1-31'],
  ['March 5th', '2026-3-5', '2026-3-5'],
  ['最近三天', '2026-11-16', '2026-11-18'],
  ['lately', '2026-11-12', '2026-11-18'],
])('%s', (text, first, last) => {
  const span = timeMentioned(text, now, zone)!;
  expect([day(span.since), day(span.until)]).toEqual([first, last]);
  expect(startOfDay(span.since, zone)).toBe(span.since);
  expect(startOfDay(span.until + 1, zone)).toBe(span.until + 1);
});

test.each(['明天的计划', 'tomorrow', 'next year 2031-01-01', '我喜欢喝茶', '', '13月45日'])(
  '%j names no time that has been',
  (text) => {
    expect(timeMentioned(text, now, zone)).toBeUndefined();
  },
);

test('a day begins and ends by the clock of the zone, also where clocks change', () => {
  expect(startOfDay(now, zone)).toBe(Date.UTC(2026, 10, 17, 16));
  const spring = Date.UTC(2027, 2, 14, 18);
  expect(startOfDay(spring, 'America/New_York')).toBe(Date.UTC(2027, 2, 14, 5));
  expect(startOfNextDay(spring, 'America/New_York')).toBe(Date.UTC(2027, 2, 15, 4));
  expect(instantOf(2027, 3, 15, 'America/New_York')).toBe(Date.UTC(2027, 2, 15, 4));
  expect(startOfNextDay(Date.UTC(2026, 10, 1, 12), 'America/New_York')).toBe(Date.UTC(2026, 10, 2, 5));
});

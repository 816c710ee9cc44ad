/** The stretch of time that a message talks about, in Chinese or English: "last week", 昨天, 3 月 5 日, 2026-01-31. */
import { dateOf, instantOf } from './days.js';

/** ms since the epoch; both inclusive. */
export interface TimeSpan {
  since: number;
  until: number;
}

/** The days of a span: first day and length, counted from the day of the message. */
type Days = { year: number; month: number; day: number; length: number };
type Today = ReturnType<typeof dateOf>;
type Rule = [RegExp, (match: RegExpExecArray, today: Today) => Days | undefined];

const numerals: Record<string, number> = {
  一: 1,
  二: 2,
  两: 2,
  三: 3,
  四: 4,
  五: 5,
  六: 6,
  七: 7,
  八: 8,
  九: 9,
  十: 10,
  半: 0.5,
};
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const months = 'january february march april may june july august september october november december'.split(' ');

const from = (today: Today, offset: number, length = 1): Days => ({ ...today, day: today.day + offset, length });
const numberOf = (text: string) => numerals[text] ?? (/^\d+$/.test(text) ? Number(text) : 1);
/** Days since Monday. */
const sinceMonday = (today: Today) => (today.weekday + 6) % 7;
const wholeMonth = (year: number, month: number): Days => ({
  year,
  month,
  day: 1,
  length: Math.round((Date.UTC(year, month, 1) - Date.UTC(year, month - 1, 1)) / 86_400_000),
});
/** A date without a year is the last one that has been, today included. */
const lastDate = (today: Today, month: number, day: number): Days | undefined => {
  if (month < 1 || month > 12 || day < 1 || day > 31) return undefined;
  const isLater = month > today.month || (month === today.month && day > today.day);
  return { year: isLater ? today.year - 1 : today.year, month, day, length: 1 };
};

/** The first that fits decides, so the longer wordings come first. */
const rules: readonly Rule[] = [
  [
    /(\d{4})[-/.年]\s*(\d{1,2})[-/.月]\s*(\d{1,2})/,
    ([, year, month, day]) => ({ year: Number(year), month: Number(month), day: Number(day), length: 1 }),
  ],
  [/(\d{1,2})\s*月\s*(\d{1,2})\s*[日号]/, ([, month, day], today) => lastDate(today, Number(month), Number(day))],
  [
    new RegExp(
      `\\b(${months.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)})?`).join('|')})\\.? (\\d{1,2})(?:st|nd|rd|th)?\\b`,
      'i',
    ),
    ([, name, day], today) =>
      lastDate(today, months.findIndex((month) => month.startsWith(name!.toLowerCase().slice(0, 3))) + 1, Number(day)),
  ],
  [/大前天/, (_, today) => from(today, -3)],
  [/前天|day before yesterday/i, (_, today) => from(today, -2)],
  [/昨[天日晚夜]|yesterday|last night/i, (_, today) => from(today, -1)],
  [
    /([一二两三四五六七八九十]|\d{1,3})\s*天(?:之|以)?前|(\d{1,3}) days? ago/i,
    ([, zh, en], today) => from(today, -numberOf(zh ?? en!)),
  ],
  [
    /([一二两三四五六七八九十]|\d{1,2})\s*(?:个)?(?:星期|周|礼拜)(?:之|以)?前|(\d{1,2}|a) weeks? ago/i,
    ([, zh, en], today) => from(today, -7 * numberOf(zh ?? en!) - 3, 7),
  ],
  [
    /(?:过去|最近|近)\s*([一二两三四五六七八九十]|\d{1,3})\s*天|(?:last|past) (\d{1,3}) days/i,
    ([, zh, en], today) => from(today, 1 - numberOf(zh ?? en!), numberOf(zh ?? en!)),
  ],
  [/上上(?:周|星期|礼拜)/, (_, today) => from(today, -sinceMonday(today) - 14, 7)],
  [
    /上(?:个)?(?:周|星期|礼拜)([一二三四五六日天])/,
    ([, day], today) => from(today, -sinceMonday(today) - 8 + (numerals[day!] ?? 7)),
  ],
  [/上(?:个)?(?:周|星期|礼拜)|last week/i, (_, today) => from(today, -sinceMonday(today) - 7, 7)],
  [
    /(?:这|本)(?:个)?(?:周|星期|礼拜)([一二三四五六日天])/,
    ([, day], today) => from(today, -sinceMonday(today) - 1 + (numerals[day!] ?? 7)),
  ],
  [/(?:这|本)(?:个)?(?:周|星期|礼拜)|this week/i, (_, today) => from(today, -sinceMonday(today), 7)],
  [
    /(?:周|星期|礼拜)([一二三四五六日天])/,
    ([, day], today) => from(today, -((sinceMonday(today) + 1 - (numerals[day!] ?? 7) + 7) % 7)),
  ],
  [
    new RegExp(`\\b(?:last |on )?(${weekdays.join('|')})\\b`, 'i'),
    ([, name], today) => from(today, -((today.weekday - weekdays.indexOf(name!.toLowerCase()) + 7) % 7)),
  ],
  [
    /上个?月|last month/i,
    (_, today) => wholeMonth(today.month === 1 ? today.year - 1 : today.year, today.month === 1 ? 12 : today.month - 1),
  ],
  [/(?:这个|本)月|this month/i, (_, today) => wholeMonth(today.year, today.month)],
  [
    /今[天日早晚]|今儿|today|tonight|this (?:morning|afternoon|evening)|(?:刚才|刚刚|早上|上午|下午|中午)|just now|earlier/i,
    (_, today) => from(today, 0),
  ],
  [/最近|近来|recently|lately/i, (_, today) => from(today, -6, 7)],
];

/** Undefined when the text names no time that has been. */
export function timeMentioned(text: string, now: number, timeZone: string): TimeSpan | undefined {
  const plain = text.slice(0, 2000).normalize('NFKC');
  const today = dateOf(now, timeZone);
  for (const [pattern, daysOf] of rules) {
    const match = pattern.exec(plain);
    const days = match && daysOf(match, today);
    if (!days) continue;
    const since = instantOf(days.year, days.month, days.day, timeZone);
    const until = instantOf(days.year, days.month, days.day + days.length, timeZone) - 1;
    if (since <= now) return { since, until };
  }
  return undefined;
}

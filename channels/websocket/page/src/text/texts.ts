/** The page's language and how it writes texts and times. */
import { en, type StringKey, type Strings } from './en.js';
import { zh } from './zh.js';

export interface Texts {
  /** For `<html lang>`. */
  readonly language: 'en' | 'zh-CN';
  t(key: StringKey, values?: Record<string, string | number>): string;
  /** Today only the time, else the date too. */
  time(atMs: number, nowMs: number): string;
}

/** The first language of the browser that the page speaks; English otherwise. */
export function createTexts(browserLanguages: readonly string[]): Texts {
  const first = browserLanguages.map((language) => language.slice(0, 2).toLowerCase()).find(isSpoken);
  const language = first === 'zh' ? 'zh-CN' : 'en';
  const strings: Strings = first === 'zh' ? zh : en;
  const locale = browserLanguages.find((candidate) => candidate.toLowerCase().startsWith(language.slice(0, 2)));
  const clock = new Intl.DateTimeFormat(locale ?? language, { hour: 'numeric', minute: '2-digit' });
  const day = new Intl.DateTimeFormat(locale ?? language, {
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
  });
  return {
    language,
    t: (key, values) => fill(strings[key], values),
    time: (atMs, nowMs) =>
      new Date(atMs).toDateString() === new Date(nowMs).toDateString() ? clock.format(atMs) : day.format(atMs),
  };
}

/** Which heading of the dialog list a dialog belongs to. */
export function ageGroup(atMs: number, nowMs: number): 'today' | 'yesterday' | 'lastWeek' | 'earlier' {
  const midnight = new Date(nowMs).setHours(0, 0, 0, 0);
  const dayMs = 86_400_000;
  if (atMs >= midnight) return 'today';
  if (atMs >= midnight - dayMs) return 'yesterday';
  return atMs >= midnight - 6 * dayMs ? 'lastWeek' : 'earlier';
}

function fill(text: string, values: Record<string, string | number> = {}): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

function isSpoken(language: string): boolean {
  return language === 'en' || language === 'zh';
}

/** What a compaction did, for people: the text that is kept as a memory of this stretch of the dialog. */
import { headOf, tailOf } from '../../tools/clean-text.js';
import { outlineOf } from './describe-steps.js';
import type { Language } from './marks.js';
import type { Trimmed } from './trim-outputs.js';

export interface Digest {
  language: Language;
  /** What a person asked, and the summary of what was done about it; oldest first. */
  turns: { request: string; summary: string }[];
  trimmed: readonly Trimmed[];
  foldedReads: number;
  /** Messages of people that the model no longer gets. */
  leftOut: readonly string[];
  /** How many of people's messages the model gets only in part. */
  cutMessages: number;
}

/** UTF-16 units. */
export const maxReadableLength = 8000;

const maxRequestLength = 160;

export function readableSummary({ language, turns, trimmed, foldedReads, leftOut, cutMessages }: Digest): string {
  const words = texts[language];
  const parts = turns.map(({ request, summary }) => `▸ ${outlineOf(request, maxRequestLength)}\n${summary}`);
  if (leftOut.length > 0) {
    const lines = leftOut.map((text) => `- ${outlineOf(text, maxRequestLength)}`);
    parts.push([words.leftOut(leftOut.length), ...lines].join('\n'));
  }
  if (trimmed.length > 0) parts.push(words.trimmed(trimmed.length, countNames(trimmed)));
  if (foldedReads > 0) parts.push(words.folded(foldedReads));
  if (cutMessages > 0) parts.push(words.cut(cutMessages));
  return bounded(parts.join('\n\n'));
}

const texts = {
  en: {
    leftOut: (count: number) => `${count} messages of people are no longer part of the conversation:`,
    trimmed: (count: number, names: string) => `${count} long tool outputs were shortened (${names}).`,
    folded: (count: number) => `${count} repeated reads were folded to the newest.`,
    cut: (count: number) => `${count} very long messages of people were cut in the middle.`,
  },
  zh: {
    leftOut: (count: number) => `有 ${count} 条用户消息不再随对话发送:`,
    trimmed: (count: number, names: string) => `缩短了 ${count} 条较长的工具输出(${names})。`,
    folded: (count: number) => `${count} 次重复读取只保留最新一次。`,
    cut: (count: number) => `${count} 条很长的用户消息只保留开头和结尾。`,
  },
} satisfies Record<Language, object>;

function countNames(trimmed: readonly Trimmed[]): string {
  const counts = new Map<string, number>();
  for (const { name } of trimmed) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count > 1 ? `${name} × ${count}` : name)).join(', ');
}

/** The newest part matters most: the middle goes. */
function bounded(text: string): string {
  if (text.length <= maxReadableLength) return text;
  const half = maxReadableLength / 2 - 4;
  return `${headOf(text, half)}\n\n…\n\n${tailOf(text, half)}`;
}

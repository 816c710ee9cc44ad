/** What the assistant did, told without a model: first and last sentences, calls with their arguments and outcomes. */
import { headOf, tailOf } from '../../tools/clean-text.js';
import type { Step } from './draft.js';
import type { Language } from './marks.js';

const maxSentenceLength = 240;
const maxArgumentsLength = 160;
const maxOutcomeLength = 120;
/** Of a long text only the two ends are looked at. */
const longestLook = 1000;

const words = {
  en: { done: 'ok', failed: 'failed', characters: 'characters', more: 'more lines' },
  zh: { done: '成功', failed: '失败', characters: '个字符', more: '行已省略' },
} satisfies Record<Language, Record<string, string>>;

/** At most about `maxLength` UTF-16 units. `earlier`: a summary of what came before these steps. */
export function describeSteps(
  steps: readonly Step[],
  { language, maxLength, earlier }: { language: Language; maxLength: number; earlier?: string | undefined },
): string {
  const lines = [...(earlier?.split('\n') ?? []), ...steps.flatMap((step) => linesOf(step, language))];
  return fitLines(lines, maxLength, language);
}

/** The first and the last sentence, or the text itself when it has no more. */
export function outlineOf(whole: string, maxLength: number): string {
  const text = whole.length > 4 * longestLook ? `${headOf(whole, longestLook)}\n${tailOf(whole, longestLook)}` : whole;
  const sentences =
    text
      .match(/[^.!?。！？\n]+(?:[.!?。！？]+|\n|$)/g)
      ?.map((part) => part.trim())
      .filter(Boolean) ?? [];
  const [first = ''] = sentences;
  const last = sentences.length > 1 ? (sentences.at(-1) as string) : '';
  const isWhole = sentences.length < 3 && first.length + last.length <= maxLength;
  const half = Math.floor(maxLength / 2);
  const parts = [cut(first, last === '' ? maxLength : half), cut(last, half)].filter(Boolean);
  return parts.join(isWhole ? ' ' : ' … ');
}

function linesOf({ assistant, results }: Step, language: Language): string[] {
  const lines: string[] = [];
  const said = outlineOf(assistant.text, 2 * maxSentenceLength);
  if (said !== '') lines.push(said);
  for (const [index, call] of assistant.toolCalls.entries()) {
    const result = results[index];
    const { done, failed, characters } = words[language];
    const outcome = result ? cut(firstLine(result.output), maxOutcomeLength) : '';
    const size = result && result.output.length > maxOutcomeLength ? ` (${result.output.length} ${characters})` : '';
    const state = result?.isError ? failed : done;
    lines.push(`- ${call.name}(${argumentsOf(call.input)}) → ${state}: ${outcome}${size}`);
  }
  return lines;
}

function argumentsOf(input: unknown): string {
  const text = typeof input === 'string' ? input : (JSON.stringify(input) ?? '');
  return cut(text === '{}' ? '' : text, maxArgumentsLength);
}

function firstLine(text: string): string {
  return text.trimStart().split('\n', 1)[0]?.trim() ?? '';
}

/** The beginning and more of the end: what came last matters most. */
function fitLines(lines: readonly string[], maxLength: number, language: Language): string {
  const total = lines.reduce((sum, line) => sum + line.length + 1, 0);
  if (total <= maxLength) return lines.join('\n');
  const head: string[] = [];
  const tail: string[] = [];
  let room = maxLength - 24;
  const take = (line: string, into: 'head' | 'tail', share: number) => {
    const text = cut(line, Math.max(40, Math.floor(share)));
    room -= text.length + 1;
    if (into === 'head') head.push(text);
    else tail.unshift(text);
  };
  let first = 0;
  let last = lines.length - 1;
  while (first <= last && room > 40) {
    const isHead = head.length * 2 < tail.length;
    take(lines[isHead ? first : last] as string, isHead ? 'head' : 'tail', room);
    if (isHead) first += 1;
    else last -= 1;
  }
  const leftOut = last - first + 1;
  const note = leftOut > 0 ? [`(… ${leftOut} ${words[language].more})`] : [];
  return [...head, ...note, ...tail].join('\n');
}

/** One line of at most `maxLength`, with its beginning and a little of its end. */
function cut(text: string, maxLength: number): string {
  const flat = /[^\S ]| {2}/.test(text) ? text.replace(/\s+/g, ' ') : text;
  if (flat.length <= maxLength) return flat;
  const tail = Math.floor(maxLength / 4);
  return `${headOf(flat, maxLength - tail - 1)}…${tailOf(flat, tail)}`;
}

/**
 * What stands in the conversation in place of shortened parts: the summary of a finished turn as the assistant's words,
 * everything else in a `<context>` block behind a person's message, which the system prompt explains and nobody can forge.
 */
import type { ModelMessage } from '../../providers/model.js';
import { cleanText } from '../../tools/clean-text.js';

export type Language = 'en' | 'zh';
export type UserMessage = Extract<ModelMessage, { role: 'user' }>;

/** `progress`: earlier work on the message it stands behind; `gap`: what was left out before that message. */
export type BlockName = 'progress' | 'gap';
export type Blocks = Partial<Record<BlockName, string>>;

const headings: Record<BlockName, Record<Language, string>> = {
  progress: {
    en: 'Your work on this message so far, shortened by the program:',
    zh: '对这条消息目前已做的工作(由程序缩短):',
  },
  gap: {
    en: 'Earlier messages were left out before this one:',
    zh: '这条消息之前的部分对话已省略:',
  },
};
const blockNames = Object.keys(headings) as BlockName[];

const summaryMarks: Record<Language, string> = {
  en: '[My earlier steps and answer here, shortened by the program]',
  zh: '[我在这里的步骤和回答,由程序缩短]',
};

export function summaryMessage(text: string, language: Language): ModelMessage {
  return { role: 'assistant', text: `${summaryMarks[language]}\n${cleanText(text)}`, toolCalls: [] };
}

/** The summary in a message made by `summaryMessage`; undefined for any other message. */
export function summaryIn(message: ModelMessage): string | undefined {
  if (message.role !== 'assistant' || message.toolCalls.length > 0) return undefined;
  const mark = Object.values(summaryMarks).find((candidate) => message.text.startsWith(`${candidate}\n`));
  return mark === undefined ? undefined : message.text.slice(mark.length + 1);
}

/** Takes the blocks off again: what the person sent, and what the blocks say. */
export function splitBlocks(message: UserMessage): { own: UserMessage; blocks: Blocks } {
  const blocks: Blocks = {};
  const last = message.content.at(-1);
  if (last?.type !== 'text') return { own: message, blocks };
  let { text } = last;
  for (let found = lastBlock(text); found; found = lastBlock(text)) {
    blocks[found.name] ??= found.body;
    text = text.slice(0, found.start);
  }
  if (text === last.text) return { own: message, blocks };
  const rest = message.content.slice(0, -1);
  return { own: { role: 'user', content: text === '' ? rest : [...rest, { type: 'text', text }] }, blocks };
}

/**
 * The person's own text stays a prefix of the part it stands in: some platforms take only one text part.
 * The blocks' texts are disarmed before they come here.
 */
export function joinBlocks(own: UserMessage, blocks: Blocks, language: Language): UserMessage {
  const added = blockNames
    .flatMap((name) => {
      const body = blocks[name];
      return body === undefined ? [] : [`\n\n<context>\n${headings[name][language]}\n${body}\n</context>`];
    })
    .join('');
  if (added === '') return own;
  const last = own.content.at(-1);
  return last?.type === 'text'
    ? { role: 'user', content: [...own.content.slice(0, -1), { type: 'text', text: `${last.text}${added}` }] }
    : { role: 'user', content: [...own.content, { type: 'text', text: added }] };
}

/** What a person typed, without speaker line and context blocks. */
export function typedText(message: UserMessage): string {
  return message.content
    .map((part) => (part.type === 'text' ? part.text : `(${part.mimeType})`))
    .join('\n')
    .replace(/^\[speaker [^\]\n]*\]\n/gm, '')
    .replace(/\n*<context>\n[\s\S]*?\n<\/context>/g, '')
    .trim();
}

/** Chinese when Han characters weigh more than other letters and there is no kana. */
export function languageOf(text: string): Language {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'en';
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  const letters = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  return han * 4 > letters ? 'zh' : 'en';
}

function lastBlock(text: string): { name: BlockName; body: string; start: number } | undefined {
  const end = '\n</context>';
  if (!text.endsWith(end)) return undefined;
  const start = text.lastIndexOf('\n\n<context>\n');
  if (start === -1) return undefined;
  const inner = text.slice(start + '\n\n<context>\n'.length, -end.length);
  for (const name of blockNames) {
    for (const heading of Object.values(headings[name])) {
      if (inner.startsWith(`${heading}\n`)) return { name, body: inner.slice(heading.length + 1), start };
    }
  }
  return undefined;
}

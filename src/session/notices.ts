/** What the program itself says to people, in English and Chinese. */
import type { RunResult } from '../agent/run-description.js';
import type { AgentEvent, StopReason } from '../protocol/events.js';

export type Language = 'en' | 'zh';

/** Chinese when the text holds a Han character and no kana, else English. */
export function detectLanguage(text: string): Language {
  return /\p{Script=Han}/u.test(text) && !/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text) ? 'zh' : 'en';
}

/** The body of the reply: what the assistant said in this run, and a word about an end that is not the usual one. */
export function answerFor(result: RunResult, events: readonly AgentEvent[], language: Language): string {
  const said = events.flatMap((event) => (event.type === 'assistant-message' && event.text !== '' ? [event.text] : []));
  const notice = result.error
    ? errorNotice(result.error, language)
    : said.length === 0 || result.stopReason !== 'end_turn'
      ? endings[result.stopReason][language]
      : '';
  return [...said, notice].filter((part) => part !== '').join('\n\n');
}

function errorNotice(error: { code: string; message: string }, language: Language): string {
  return language === 'zh'
    ? `⚠️ 没能回答:${error.message}(${error.code})`
    : `⚠️ No answer: ${error.message} (${error.code})`;
}

const endings: Record<StopReason, Record<Language, string>> = {
  end_turn: { en: '(The model gave no text.)', zh: '(模型没有返回文字。)' },
  max_turns: {
    en: '⚠️ Stopped after the highest number of steps. Say "go on" to continue.',
    zh: '⚠️ 已达到步数上限。回复“继续”可接着做。',
  },
  no_progress: {
    en: '⚠️ Stopped: the same step was repeated without progress.',
    zh: '⚠️ 已停止:重复相同步骤,没有进展。',
  },
  cancelled: { en: '⏹ Stopped.', zh: '⏹ 已停止。' },
  budget_exceeded: { en: '⚠️ Stopped: the budget is used up.', zh: '⚠️ 已停止:预算用完了。' },
  timeout: { en: '⚠️ Stopped: the turn took too long.', zh: '⚠️ 已停止:本轮用时过长。' },
  awaiting_permission: { en: '⏸ Waiting for an approval.', zh: '⏸ 等待批准。' },
  awaiting_user: { en: '⏸ Waiting for your answer.', zh: '⏸ 等待你的回答。' },
  model_error: { en: '⚠️ The model failed.', zh: '⚠️ 模型出错。' },
};

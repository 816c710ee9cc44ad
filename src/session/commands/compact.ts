import type { Command } from './command.js';

const timeLimitMs = 180_000;

export const compactCommand: Command = {
  names: ['compact'],
  summary: {
    en: 'shorten what the model gets of this dialog; nothing is deleted',
    zh: '压缩当前对话的上下文(历史不会删除)',
  },
  async run({ session, control, language }) {
    const report = await control.compact(session.id, AbortSignal.timeout(timeLimitMs));
    if (report.kind === 'unchanged') {
      return language === 'zh' ? '没有可以压缩的内容。' : 'There is nothing to shorten yet.';
    }
    const { tokensBefore, tokensAfter } = report;
    return language === 'zh'
      ? `上下文从约 ${tokensBefore} 个词元压缩到约 ${tokensAfter} 个。完整历史仍可搜索。`
      : `The model now gets about ${tokensAfter} tokens instead of ${tokensBefore}. The full history stays searchable.`;
  },
};

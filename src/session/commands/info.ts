import type { Command } from './command.js';

export const infoCommand: Command = {
  names: ['info'],
  summary: { en: 'about this dialog', zh: '当前对话信息' },
  run({ session, language }) {
    const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0 } = session.usage;
    const rows =
      language === 'zh'
        ? [
            ['标题', session.title],
            ['编号', `\`${session.id}\``],
            ['消息', String(session.messageCount)],
            ['词元', `输入 ${inputTokens}(缓存 ${cachedInputTokens}),输出 ${outputTokens}`],
          ]
        : [
            ['Title', session.title],
            ['Id', `\`${session.id}\``],
            ['Messages', String(session.messageCount)],
            ['Tokens', `${inputTokens} in (${cachedInputTokens} cached), ${outputTokens} out`],
          ];
    return rows.map(([label, value]) => `- ${label}: ${value}`).join('\n');
  },
};

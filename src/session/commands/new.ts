import type { Command } from './command.js';

export const newCommand: Command = {
  names: ['new'],
  usage: '[title]',
  summary: { en: 'start a new dialog', zh: '开始新对话' },
  run({ args, session, control, language }) {
    const created = control.create({
      channel: session.channel,
      chatId: session.chatId,
      sameScopeAs: session.id,
      ...(args !== '' && { title: args }),
    });
    return language === 'zh' ? `已开始新对话 \`${created.dialogId}\`。` : `New dialog \`${created.dialogId}\` started.`;
  },
};

import type { Command } from './command.js';

export const helpCommand: Command = {
  names: ['help', '?'],
  summary: { en: 'show the commands', zh: '显示命令' },
  run({ commands, language }) {
    return commands
      .map((command) => {
        const usage = command.usage ? ` ${command.usage}` : '';
        return `- \`/${command.names[0]}${usage}\` – ${command.summary[language]}`;
      })
      .join('\n');
  },
};

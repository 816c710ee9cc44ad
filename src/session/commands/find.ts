/** Commands that look things up: what was said, what is remembered, what was used; and the dialog as a file. */
import { UserError } from '../../protocol/errors.js';
import type { Command } from './command.js';

export const searchCommand: Command = {
  names: ['search'],
  usage: '<words>',
  summary: { en: 'search what was said in this chat', zh: '搜索本聊天的历史消息' },
  async run({ args, session, control, language }) {
    if (args === '') {
      throw new UserError('missing_argument', language === 'zh' ? '用法:/search 关键词' : 'Usage: /search words');
    }
    const hits = await control.search(args, { within: session.id, limit: 10 });
    if (hits.length === 0) return language === 'zh' ? '没有找到。' : 'Nothing was found.';
    return hits
      .map(({ at, title, snippet }) => {
        const marked = snippet.replace(/⟦/g, '**').replace(/⟧/g, '**').replace(/\s+/g, ' ');
        return `- ${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} _${title}_: ${marked}`;
      })
      .join('\n');
  },
};

export const memoryCommand: Command = {
  names: ['memory'],
  usage: '[words | forget <key> | word <word>]',
  summary: { en: 'show, search or forget what is remembered; teach a word', zh: '查看、搜索或忘记记忆;添加词语' },
  async run({ args, message, session, memory, language }) {
    const actor = { ...message, userId: message.sender.id, role: message.sender.role, sessionId: session.id };
    const [verb, ...rest] = args.split(/\s+/);
    const operand = rest.join(' ');
    if (verb === 'forget' && operand !== '') {
      await memory.forget(operand, actor);
      return language === 'zh' ? `已忘记“${operand}”。` : `Forgotten: "${operand}".`;
    }
    if (verb === 'word' && operand !== '') {
      if (message.sender.role !== 'owner') {
        throw new UserError(
          'owner_only',
          language === 'zh' ? '只有所有者可以添加词语。' : 'Only an owner may teach words.',
        );
      }
      await memory.addWord(operand);
      return language === 'zh' ? `已添加词语“${operand}”。` : `"${operand}" is a word now.`;
    }
    const entries = await memory.find(args, actor);
    if (entries.length === 0) return language === 'zh' ? '还没有相关记忆。' : 'Nothing is remembered about that.';
    return entries.map(({ key, content }) => `- **${key}**: ${content}`).join('\n');
  },
};

export const usageCommand: Command = {
  names: ['usage'],
  summary: { en: 'tokens used by this dialog', zh: '当前对话的词元用量' },
  run({ session, language }) {
    const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0, reasoningTokens = 0 } = session.usage;
    const share = inputTokens > 0 ? Math.round((100 * cachedInputTokens) / inputTokens) : 0;
    return language === 'zh'
      ? `输入 ${inputTokens}(缓存命中 ${share}%),输出 ${outputTokens}(思考 ${reasoningTokens})`
      : `${inputTokens} in (${share} % from the cache), ${outputTokens} out (${reasoningTokens} reasoning)`;
  },
};

export const dumpCommand: Command = {
  names: ['dump'],
  usage: '[md | json]',
  summary: { en: 'save this dialog as a file in the workspace', zh: '把当前对话保存为工作区文件' },
  async run({ args, message, session, control, saveFile, language }) {
    if (args !== '' && args !== 'md' && args !== 'json') {
      throw new UserError('unknown_format', language === 'zh' ? '格式为 md 或 json。' : 'The format is md or json.');
    }
    if (message.sender.role !== 'owner') {
      throw new UserError('owner_only', language === 'zh' ? '只有所有者可以导出。' : 'Only an owner may do this.');
    }
    const format = args === 'json' ? 'json' : 'md';
    const file = await saveFile(`dialog-${session.dialogId}.${format}`, control.exportDialog(session.id, format));
    return language === 'zh' ? `已保存到 \`${file}\`。` : `Saved as \`${file}\`.`;
  },
};

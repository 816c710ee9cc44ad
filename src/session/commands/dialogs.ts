/** Commands over the dialogs of a chat. */
import type { ControlChannel, SessionSummary } from '../../protocol/control.js';
import { UserError } from '../../protocol/errors.js';
import { sessionId } from '../../protocol/ids.js';
import type { Language } from '../notices.js';
import type { Command, CommandContext } from './command.js';

export const sessionsCommand: Command = {
  names: ['sessions'],
  summary: { en: 'list the ten most recent dialogs', zh: '列出最近十个对话' },
  run({ session, control, language, now }) {
    const { items } = control.list({ sameScopeAs: session.id, limit: 10 });
    const lines = items.map((item) => dialogLine(item, language, now()));
    return lines.join('\n');
  },
};

export const switchCommand: Command = {
  names: ['switch'],
  usage: '<id>',
  summary: { en: 'go on with another dialog', zh: '切换到另一个对话' },
  run(context) {
    const target = context.control.switchTo(findDialog(context).id);
    return context.language === 'zh'
      ? `已切换到“${target.title}”(\`${target.dialogId}\`)。`
      : `Switched to "${target.title}" (\`${target.dialogId}\`).`;
  },
};

export const renameCommand: Command = {
  names: ['rename'],
  usage: '<title>',
  summary: { en: 'give this dialog a title', zh: '重命名当前对话' },
  run({ args, session, control, language }) {
    if (args === '') {
      throw new UserError('missing_argument', language === 'zh' ? '用法:/rename 新标题' : 'Usage: /rename new title');
    }
    const { title } = control.update(session.id, { title: args });
    return language === 'zh' ? `已改名为“${title}”。` : `Now called "${title}".`;
  },
};

export const archiveCommand: Command = {
  names: ['archive'],
  summary: {
    en: 'put this dialog away; it stays searchable, /switch brings it back',
    zh: '归档当前对话;仍可搜索,用 /switch 取回',
  },
  run({ session, control, language }) {
    control.update(session.id, { archived: true });
    return language === 'zh'
      ? `已归档“${session.title}”。用 \`/switch ${session.dialogId}\` 取回。`
      : `"${session.title}" is archived. \`/switch ${session.dialogId}\` brings it back.`;
  },
};

export const deleteCommand: Command = {
  names: ['delete'],
  summary: { en: 'delete this dialog; /restore brings it back', zh: '删除当前对话;用 /restore 恢复' },
  async run({ session, control, language }) {
    await control.delete(session.id);
    return language === 'zh'
      ? `已删除“${session.title}”。用 \`/restore ${session.dialogId}\` 恢复。`
      : `"${session.title}" is deleted. \`/restore ${session.dialogId}\` brings it back.`;
  },
};

export const restoreCommand: Command = {
  names: ['restore'],
  usage: '<id>',
  summary: { en: 'bring back a deleted or archived dialog', zh: '恢复已删除或归档的对话' },
  run({ args, session, control, language }) {
    if (args === '') {
      throw new UserError('missing_argument', language === 'zh' ? '用法:/restore 编号' : 'Usage: /restore id');
    }
    const { channel, chatId } = session;
    const restored = control.restore(sessionId({ channel, chatId, dialogId: args }));
    return language === 'zh' ? `已恢复“${restored.title}”。` : `"${restored.title}" is back.`;
  },
};

/** The dialog of this chat whose id is `args`, or the only one whose id starts with it. */
function findDialog({ args, session, control, language }: CommandContext): SessionSummary {
  if (args === '') {
    throw new UserError(
      'missing_argument',
      language === 'zh' ? '用法:/switch 编号(见 /sessions)' : 'Usage: /switch id (see /sessions)',
    );
  }
  const matches = allDialogs(control, session).filter((item) => item.dialogId.startsWith(args));
  const exact = matches.find((item) => item.dialogId === args);
  if (exact) return exact;
  if (matches.length === 1) return matches[0]!;
  throw matches.length === 0
    ? new UserError(
        'session_not_found',
        language === 'zh' ? `没有编号以“${args}”开头的对话。` : `No dialog's id starts with "${args}".`,
      )
    : new UserError(
        'ambiguous_id',
        language === 'zh'
          ? `“${args}”对应多个对话:${matches.map((item) => item.dialogId).join('、')}。请多写几个字符。`
          : `"${args}" fits several: ${matches.map((item) => item.dialogId).join(', ')}. Type more of the id.`,
      );
}

/** Archived ones too: switching brings them back. */
function allDialogs(control: ControlChannel, session: SessionSummary): SessionSummary[] {
  const found: SessionSummary[] = [];
  for (const archived of [false, true]) {
    let cursor: string | undefined;
    do {
      const page = control.list({
        sameScopeAs: session.id,
        archived,
        limit: 200,
        ...(cursor !== undefined && { cursor }),
      });
      found.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }
  return found;
}

function dialogLine(item: SessionSummary, language: Language, now: number): string {
  const mark = item.current ? '▶ ' : '';
  const messages = language === 'zh' ? `${item.messageCount} 条消息` : `${item.messageCount} messages`;
  return `- ${mark}**${item.title}** \`${item.dialogId}\` – ${messages}, ${age(now - item.lastActiveAt, language)}`;
}

const ageUnits = [
  { ms: 86_400_000, unit: 'day' },
  { ms: 3_600_000, unit: 'hour' },
  { ms: 60_000, unit: 'minute' },
] as const;

function age(elapsedMs: number, language: Language): string {
  const format = new Intl.RelativeTimeFormat(language === 'zh' ? 'zh-CN' : 'en', { numeric: 'auto' });
  const fitting = ageUnits.find(({ ms }) => elapsedMs >= ms);
  return fitting ? format.format(-Math.floor(elapsedMs / fitting.ms), fitting.unit) : format.format(0, 'minute');
}

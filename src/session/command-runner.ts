/** Recognises slash commands and runs them. Their text and answer are for people only; the model never sees them. */
import type { QueuedMessage } from '../bus/inbound-queue.js';
import type { ControlChannel } from '../protocol/control.js';
import { describeError, UserError } from '../protocol/errors.js';
import type { InboundMessage } from '../protocol/messages.js';
import { type Command, parseCommand } from './commands/command.js';
import { commands } from './commands/index.js';
import type { LiveSession } from './live-session.js';
import { detectLanguage, type Language } from './notices.js';
import type { SessionRow } from './session-store.js';
import { recordShortRun } from './short-run.js';
import type { TurnParts } from './turn.js';

export interface CommandRunner {
  isCommand(message: InboundMessage): boolean;
  /** A command that acts past the lane, while a turn is running. */
  isImmediate(message: InboundMessage): boolean;
  /** Runs the first message of the batch if it is a command; false when it is not. */
  run(session: LiveSession, row: SessionRow, queued: QueuedMessage): Promise<boolean>;
}

export function createCommandRunner(parts: TurnParts, control: ControlChannel): CommandRunner {
  const table = new Map(commands.flatMap((command) => command.names.map((name) => [name, command] as const)));
  const find = (message: InboundMessage): { command: Command | undefined; name: string; args: string } | undefined => {
    const parsed = parseCommand(message.text);
    return parsed && { ...parsed, command: table.get(parsed.name) };
  };
  return {
    isCommand: (message) => find(message) !== undefined,
    isImmediate: (message) => find(message)?.command?.isImmediate === true,
    async run(session, row, queued) {
      const { message } = queued;
      const found = find(message);
      if (!found) return false;
      const language = languageFor(parts, message);
      const reply = found.command
        ? await answer(found.command, found.args, row, message, language)
        : unknownCommand(found.name, language);
      const { messageId, text, sender, attachments } = message;
      recordShortRun(parts, session, queued, {
        model: 'command',
        between: [
          { type: 'command', messageId, text, sender, attachments },
          { type: 'notice', text: reply },
        ],
        stopReason: 'end_turn',
        text: reply,
        reply,
      });
      return true;
    },
  };

  async function answer(
    command: Command,
    args: string,
    row: SessionRow,
    message: InboundMessage,
    language: Language,
  ): Promise<string> {
    try {
      const session = control.get(row.id);
      return await command.run({
        args,
        message,
        session,
        control,
        language,
        commands,
        now: parts.now,
        ...parts.commandServices,
      });
    } catch (error) {
      if (!(error instanceof UserError)) parts.log.error({ err: error, command: command.names[0] }, 'command failed');
      return `⚠️ ${describeError(error).message}`;
    }
  }

  function unknownCommand(name: string, language: Language): string {
    return language === 'zh'
      ? `没有命令 /${name}。输入 /help 查看全部命令。`
      : `There is no command /${name}. /help lists them all.`;
  }
}

export function languageFor(parts: TurnParts, message: InboundMessage): Language {
  const { language } = parts.config.sessions;
  return language === 'auto' ? detectLanguage(message.text) : language;
}

/** The slash-command contract. One file per command or small family; the table in `index.ts` is the only list. */
import type { ControlChannel, SessionSummary } from '../../protocol/control.js';
import type { InboundMessage, Role } from '../../protocol/messages.js';
import type { Language } from '../notices.js';

/** What commands need of other rooms. */
export interface CommandServices {
  memory: {
    /** Best match first; without a query the newest. Only what the asker may see. */
    find(query: string, actor: CommandActor): Promise<{ key: string; content: string }[]>;
    /** Throws `UserError`. */
    forget(key: string, actor: CommandActor): Promise<void>;
    /** Into the user dictionary; search knows it at once. */
    addWord(word: string): Promise<void>;
  };
  /** Writes into the workspace's `exports` folder; returns the path, relative to the workspace. */
  saveFile(name: string, content: string): Promise<string>;
}

export interface CommandActor {
  channel: string;
  chatId: string;
  chatType: 'direct' | 'group';
  userId: string;
  role: Role;
  sessionId: string;
}

export interface CommandContext extends CommandServices {
  /** What follows the name, trimmed. */
  args: string;
  message: InboundMessage;
  /** The dialog the command was typed in. */
  session: SessionSummary;
  control: ControlChannel;
  language: Language;
  /** All commands, for /help. */
  commands: readonly Command[];
  now: () => number;
}

export interface Command {
  /** First is the name, the rest are aliases; without the slash. */
  readonly names: readonly [string, ...string[]];
  readonly usage?: string;
  /** One line for /help. */
  readonly summary: Record<Language, string>;
  /** True: acts at once, past the lane, while a turn is running. */
  readonly isImmediate?: boolean;
  /** Returns the reply. Throws `UserError` for wrong use. */
  run(context: CommandContext): Promise<string> | string;
}

export interface ParsedCommand {
  name: string;
  args: string;
}

/** `/name args` or `/name@bot args`. A path (`/etc/hosts is…`), a comment (`//`) or `/ ` is ordinary text. */
export function parseCommand(text: string): ParsedCommand | undefined {
  const match = /^\/([a-z?][a-z0-9_-]*|\?)(?:@(\S+))?(?:\s+([\s\S]*))?$/i.exec(text.trim());
  if (!match) return undefined;
  return { name: match[1]!.toLowerCase(), args: (match[3] ?? '').trim() };
}

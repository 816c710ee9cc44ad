/** What Tab offers: slash commands, and ids of dialogs after those that take one. */
import type { HttpClient } from '../../client/http.js';
import type { ChatAddress } from '../../protocol/ids.js';
import { daemonCommands, dialogCommands, localCommands } from './slash-commands.js';

/** Candidates and the part of the line that they replace. */
export type Completion = [candidates: string[], typed: string];

const maxDialogs = 50;

export async function complete(line: string, http: HttpClient, chat: ChatAddress): Promise<Completion> {
  if (/^\/\S*$/.test(line)) {
    const names = [...daemonCommands, ...localCommands].map((name) => `/${name} `);
    return [names.filter((name) => name.startsWith(line)), line];
  }
  const [, command, typed = ''] = /^\/(\S+)\s+(\S*)$/.exec(line) ?? [];
  if (command === undefined || !dialogCommands.includes(command)) return [[], line];
  const archived = command === 'restore';
  const { channel, chatId } = chat;
  // No completion is no reason to disturb: the command itself will tell what is wrong.
  const { items } = await http.sessions({ channel, chatId, archived, limit: maxDialogs }).catch(() => ({ items: [] }));
  const ids = items
    .map((session) => session.dialogId)
    .filter((id) => id.startsWith(typed) && /^[\x21-\x7e]+$/.test(id));
  return [ids, typed];
}

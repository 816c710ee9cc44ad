/** Which dialog the terminal talks in: a named one, else the one that is current in its chat. */
import { findSession } from '../../client/find-session.js';
import type { HttpClient } from '../../client/http.js';
import { UserError } from '../../protocol/errors.js';
import { type ChatAddress, type SessionId, sessionId } from '../../protocol/ids.js';

export interface Dialog extends ChatAddress {
  id: SessionId;
  title: string;
}

export const ownChat: ChatAddress = { channel: 'cli_chat', chatId: 'terminal' };

/** `reference`: an id or the beginning of one; those of the terminal's own chat come first. */
export async function openingDialog(http: HttpClient, reference: string | undefined): Promise<Dialog> {
  if (reference === undefined) return currentDialog(http, ownChat);
  if (!reference.includes(':')) {
    try {
      return await findSession(http, reference, ownChat);
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== 'session_not_found') throw error;
    }
  }
  return findSession(http, reference);
}

/** The current dialog, else the most recent one, else the one that the first message creates. */
export async function currentDialog(http: HttpClient, { channel, chatId }: ChatAddress): Promise<Dialog> {
  const { items } = await http.sessions({ channel, chatId, limit: 50 });
  const found = items.find((session) => session.current) ?? items[0];
  return found ?? { channel, chatId, id: sessionId({ channel, chatId, dialogId: 'default' }), title: 'New chat' };
}

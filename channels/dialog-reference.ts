/** Finds the dialog that a client of a local door means by its `sessionId`. */
import type { ControlChannel } from '../src/protocol/control.js';
import { UserError } from '../src/protocol/errors.js';
import {
  type ChatAddress,
  type DialogAddress,
  parseSessionId,
  type SessionId,
  sessionId,
} from '../src/protocol/ids.js';

/** Created on demand by the first message that names it. */
export const defaultDialogId = 'default';

/**
 * `default`, a dialog id of `chat`, or a full id. Throws `invalid_session_id` and `session_not_found`;
 * only `default` need not exist yet.
 */
export function findDialog(reference: string, chat: ChatAddress, control: ControlChannel): DialogAddress {
  const address = reference.includes(':') ? parseSessionId(reference) : { ...chat, dialogId: reference };
  if (!address) {
    throw new UserError(
      'invalid_session_id',
      `"${reference.slice(0, 200)}" is not a session id. Use "default", the id of a dialog, or channel:chat:dialog.`,
    );
  }
  if (!isOnDemand(address, chat)) control.get(sessionId(address));
  return address;
}

/** Like `findDialog`, for a message to the dialog: of a local channel only, else throws `session_read_only`. */
export function findOwnDialog(
  reference: string,
  chat: ChatAddress,
  deps: { control: ControlChannel; isLocalChannel: (channel: string) => boolean },
): DialogAddress {
  const address = findDialog(reference, chat, deps.control);
  if (deps.isLocalChannel(address.channel)) return address;
  throw new UserError(
    'session_read_only',
    `That dialog belongs to the channel "${address.channel}" and goes on there. Here it can be read and stopped.`,
    { status: 409 },
  );
}

export function isOnDemand(address: DialogAddress, chat: ChatAddress): boolean {
  return address.dialogId === defaultDialogId && address.channel === chat.channel && address.chatId === chat.chatId;
}

/** What `read` gives, or `otherwise` while an on-demand dialog does not exist yet. */
export function ifDialogExists<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UserError && error.code === 'session_not_found') return otherwise;
    throw error;
  }
}

export type { DialogAddress, SessionId };

/** Session ids: `channel:chat_id:dialog_id`. The one place that builds or reads them. */
import { randomBytes } from 'node:crypto';

/** Three encoded parts joined by `:`; inside a part `:` and `%` are percent-encoded, nothing else is. */
export type SessionId = string & { readonly __session: true };
/** The first two parts: one chat on one platform. */
export type ChatScope = string & { readonly __chat: true };

export interface ChatAddress {
  channel: string;
  chatId: string;
}
export interface DialogAddress extends ChatAddress {
  dialogId: string;
}

export function sessionId(address: DialogAddress): SessionId {
  return [address.channel, address.chatId, address.dialogId].map(encodePart).join(':') as SessionId;
}

export function chatScope(address: ChatAddress): ChatScope {
  return [address.channel, address.chatId].map(encodePart).join(':') as ChatScope;
}

/** The parts of a session id, or undefined when `text` is not one: not three parts, an empty part, a broken escape. */
export function parseSessionId(text: string): DialogAddress | undefined {
  const parts = text.split(':').map(decodePart);
  const [channel, chatId, dialogId] = parts;
  if (parts.length !== 3 || !channel || !chatId || !dialogId) return undefined;
  return { channel, chatId, dialogId };
}

/** The chat that a session belongs to. */
export function scopeOf(id: SessionId): ChatScope {
  return id.slice(0, id.lastIndexOf(':')) as ChatScope;
}

/** `prefix_` and 16 characters of base32: 80 random bits. */
export function newId(prefix: string): string {
  const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';
  let text = '';
  for (const byte of randomBytes(16)) text += alphabet[byte & 31];
  return `${prefix}_${text}`;
}

function encodePart(part: string): string {
  return part.replace(/[%:]/g, (character) => (character === ':' ? '%3A' : '%25'));
}

function decodePart(part: string): string | undefined {
  if (/%(?!25|3A)/i.test(part)) return undefined;
  return part.replace(/%3A/gi, ':').replace(/%25/g, '%');
}

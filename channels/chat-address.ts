/** `chat` or `chat/thread`: how the channels of platforms write a thread or topic into a chat id. */

export interface ChatPlace {
  chat: string;
  /** Empty: not in a thread. */
  thread: string;
}

export function chatIdOf({ chat, thread }: ChatPlace): string {
  return thread === '' ? chat : `${chat}/${thread}`;
}

export function placeOf(chatId: string): ChatPlace {
  const slash = chatId.indexOf('/');
  return slash === -1
    ? { chat: chatId, thread: '' }
    : { chat: chatId.slice(0, slash), thread: chatId.slice(slash + 1) };
}

/** What travels between channels and the rest of the house. */

/** Text in our one Markdown dialect (CommonMark + GFM tables, strikethrough). */
export type Markdown = string;

export type Role = 'owner' | 'member' | 'stranger';

/** A file by reference; bytes never travel in a message. */
export interface MediaRef {
  id: string;
  mimeType: string;
  /** In bytes. */
  size: number;
  fileName?: string;
}

export interface Sender {
  /** The platform's stable user id. */
  id: string;
  name?: string;
  role: Role;
}

export interface InboundMessage {
  channel: string;
  /** Chat, group, or group and thread, in the platform's spelling. */
  chatId: string;
  /** The platform's id, unique within the chat (or within `dialogId` where that is given): a second message with it is a duplicate. */
  messageId: string;
  sender: Sender;
  chatType: 'direct' | 'group';
  /** Addressed to the bot; always true in direct chats. */
  mentioned: boolean;
  /** Mentions resolved to names, the bot's own mention removed. */
  text: string;
  attachments: MediaRef[];
  /** Quoted platform message id, its text in `quoted`. */
  replyTo?: string;
  quoted?: string;
  /** ms since the epoch, from the platform. */
  sentAt: number;
  /** Only where the channel itself names the dialog (WebSocket and HTTP `sessionId`). */
  dialogId?: string;
  /**
   * True when whoever sent this waits for an answer to exactly this message (an HTTP request):
   * it is never merged with others into one turn.
   */
  expectsOwnAnswer?: boolean;
}

/** A button: an approval, a choice, feedback. */
export interface Action {
  id: string;
  label: string;
  style?: 'primary' | 'danger';
}

/** Durable: stored before it is sent, kept until the platform confirms. */
export interface OutboundMessage {
  /** Idempotency key, handed to platforms that take one. */
  id: string;
  channel: string;
  chatId: string;
  /** Platform message id to answer to. */
  replyTo?: string;
  body: Markdown;
  attachments: MediaRef[];
  actions?: Action[];
  runId?: string;
  sessionId?: string;
}

/** Ephemeral: a channel may drop, merge or ignore it. */
export type Progress =
  | { kind: 'typing' }
  | { kind: 'text'; runId: string; text: string }
  | { kind: 'tool'; runId: string; name: string; state: 'running' | 'done' | 'failed' };

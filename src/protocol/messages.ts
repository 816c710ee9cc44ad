/** What travels between channels and the rest of the house. */

/** Text in our one Markdown dialect (CommonMark + GFM tables, strikethrough). */
export type Markdown = string;

export type Role = 'owner' | 'member' | 'stranger';

/** A file by reference; bytes never travel in a message. */
export interface MediaRef {
  /** Of the media store; of the platform as long as `remote` is there. */
  id: string;
  mimeType: string;
  /** In bytes; 0: not known yet. */
  size: number;
  fileName?: string;
  /** Still with the platform: what `Channel.fetchMedia` needs to get it. Opaque to everybody else. */
  remote?: string;
  /** Spoken into the microphone: transcribed when a model for it is configured. */
  isVoice?: true;
}

export interface Sender {
  /** The platform's stable user id. */
  id: string;
  name?: string;
  /** A platform's channel says `stranger`; admission gives what the person is allowed to be. */
  role: Role;
  isBot?: true;
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
  /** Calls everybody (@all, @channel). */
  mentionsEveryone?: true;
  /** Mentions resolved to names, the bot's own mention removed. */
  text: string;
  attachments: MediaRef[];
  /** Quoted platform message id, its text in `quoted`. */
  replyTo?: string;
  quoted?: string;
  /** ms since the epoch, from the platform. */
  sentAt: number;
  /** What others said in the group since the bot last answered there, oldest first; data for the model. */
  recent?: readonly { senderId: string; senderName?: string; text: string }[];
  /** Only where the channel itself names the dialog (WebSocket and HTTP `sessionId`). */
  dialogId?: string;
  /**
   * True when whoever sent this waits for an answer to exactly this message (an HTTP request):
   * it is never merged with others into one turn.
   */
  expectsOwnAnswer?: boolean;
}

/**
 * A button: an approval, a choice, feedback. Pressing it means the same as writing its `id` into the chat, so a
 * platform without buttons shows `label: id` lines instead.
 */
export interface Action {
  /** A slash command, at most 64 bytes. */
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

/** Ephemeral: a channel may drop, merge or ignore it. Afterwards the run's answer comes through `send`, with its `runId`. */
export type Progress =
  /** Comes again every few seconds as long as the turn works. */
  | { kind: 'typing'; runId: string }
  /** `text`: all that the run has said so far. `replyTo`: the message it answers. */
  | { kind: 'text'; runId: string; text: string; replyTo?: string }
  | { kind: 'tool'; runId: string; name: string; state: 'running' | 'done' | 'failed'; replyTo?: string };

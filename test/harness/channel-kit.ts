/**
 * What the behaviour suite (test/channels/behaviour.ts) needs of a platform: a wire-level fake, seen as a person sees the
 * real one. Write one for your adapter and call `describeChannel(kit)`.
 */
import type { VirtualClock } from './virtual-clock.js';

/** A message that the bot put into a chat, as it stands there now. */
export interface ShownMessage {
  id: string;
  /** Visible characters only: markup taken away, entities decoded. */
  text: string;
  /** False: the platform got it as plain text. */
  isFormatted: boolean;
  /** Empty: not in a thread. */
  thread: string;
  replyTo?: string;
  fileName?: string;
  buttons: string[];
  /** Language of each code block in it, in order. */
  codeLanguages: string[];
}

export interface Said {
  text: string;
  /** Default `direct`. */
  chat?: 'direct' | 'group';
  /** Another chat of that kind. Default `first`. */
  place?: 'first' | 'second';
  /** Id of a thread or topic of the chat. */
  thread?: string;
  /** In the platform's own way, at the start of the text. Default false. */
  mention?: boolean;
  /** Default `ann`, who is in `allowFrom` and `owners` of `config`; `bob` is neither; `robot` is another bot. */
  sender?: 'ann' | 'bob' | 'robot';
  /** Id of a shown message that it answers to. */
  replyTo?: string;
  file?: { name: string; mimeType: string; bytes: Uint8Array };
}

export interface RunningPlatform {
  /** Of `channels.<name>`, complete: enabled, pointed at the fake, `ann` the owner, groups allowed when mentioned. */
  readonly config: Record<string, unknown>;
  /** Chat ids as our messages carry them. */
  chatId(said: Pick<Said, 'chat' | 'place' | 'thread'>): string;
  /** Resolves with the platform's message id when the bot has acknowledged the update. */
  say(said: Said): Promise<string>;
  /** Delivers the update of `say` once more, as the platform does when it believes it was lost. */
  redeliver(messageId: string): Promise<void>;
  /** The bot's messages of a chat in order, drafts in their present state. */
  shown(chatId: string): ShownMessage[];
  /** Resolves when `fits` holds for what is shown there, at once or later. Rejects after 20 s of real time. */
  untilShown(chatId: string, fits: (messages: ShownMessage[]) => boolean): Promise<ShownMessage[]>;
  press(messageId: string, label: string): Promise<void>;
  /** Calls that reached the platform so far: sends and edits with their chat and the clock's time. */
  calls(): { kind: 'send' | 'edit' | 'upload' | 'other'; chatId: string; at: number; status: number }[];
  faults: {
    /** Refuses the next formatted messages as not parsable. */
    refuseFormatting(count: number): void;
    /** Answers the next sends and edits of a chat with "too many calls, wait". */
    rateLimit(options: { chatId: string; count: number; waitSeconds: number }): void;
    /** Cuts the connection of the next send `before` it is carried out, or `after`: done, but the answer is lost. */
    cutNextSend(when: 'before' | 'after'): void;
    /** Ends the connection over which updates come. */
    dropConnection(): Promise<void>;
    /** From now on the credentials are refused. */
    revokeToken(): void;
    /** The next file asked for is a web page with status 200. */
    serveLoginPage(): void;
  };
  /** Updates connections (long polls, sockets) open at this moment. */
  openConnections(): number;
  stop(): Promise<void>;
}

export interface ChannelKit {
  /** Key under `channels` and id of the channel. */
  readonly name: 'telegram' | 'slack' | 'feishu' | (string & {});
  /** Longest visible text of one message there. */
  readonly maxTextLength: number;
  /** True: a send that was carried out but not confirmed is not shown twice. */
  readonly isIdempotent: boolean;
  start(clock: VirtualClock): Promise<RunningPlatform>;
}

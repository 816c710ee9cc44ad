/** The channel contract: one account on one platform. */
import type { HttpHost } from '../src/gateway/http-host.js';
import type { InboundMessage, MediaRef, OutboundMessage, Progress } from '../src/protocol/messages.js';

export interface Receipt {
  /** The platform's id of the first message that this send made, where it has one. */
  platformId?: string;
}

/**
 * Stores one message. Resolves once it is committed: acknowledge to the platform after it.
 * `duplicate`: the id was known already and nothing new will run. Throws `UserError`
 * (`queue_full`, `shutting_down`): tell the sender, and let the platform deliver again where it can.
 */
export type Receive = (message: InboundMessage) => Promise<{ duplicate: boolean }>;

/** A file on its way in. */
export interface MediaDownload {
  body: AsyncIterable<Uint8Array>;
  /** As the platform says; the media store looks at the bytes itself. */
  mimeType?: string;
  fileName?: string;
}

/** One line of `picobot channels check`. */
export interface CheckResult {
  /** What was looked at, e.g. "bot token", "scope im:message". */
  what: string;
  isOk: boolean;
  /** What was found; when not ok, also what to do about it. */
  detail: string;
}

/** Optional members are abilities a platform may lack. All failures are `ChannelError`. */
export interface Channel {
  readonly id: string;
  /** Longest text of one message in the platform's own unit, after rendering. */
  readonly maxTextLength: number;
  /**
   * Receives until `signal` aborts, then settles. If it throws before that the manager runs it
   * again after a growing pause, unless the error is permanent (bad token).
   */
  run(receive: Receive, signal: AbortSignal): Promise<void>;
  /** Sends one message. Never retries: the dispatcher does. Calls for one chat never overlap. */
  send(message: OutboundMessage, signal: AbortSignal): Promise<Receipt>;
  /** Shows what a running turn does. May be called often; the channel merges and paces. */
  progress?(chatId: string, update: Progress, signal: AbortSignal): Promise<void>;
  /**
   * Opens a file that this channel announced in a message with `remote`. Called when the turn begins, perhaps after a
   * restart. Throws `ChannelError`; the turn then goes on without the file, and model and person are told.
   */
  fetchMedia?(media: MediaRef, signal: AbortSignal): Promise<MediaDownload>;
  /** Tests credentials, scopes and event subscriptions without receiving anything. Never throws for what it finds. */
  check?(signal: AbortSignal): Promise<CheckResult[]>;
  /** Adds routes or an upgrade handler to the gateway. Called once, before `run`. */
  mount?(host: HttpHost): void;
  /** True when the platform drops a second send with the same `OutboundMessage.id`. */
  readonly isIdempotent?: boolean;
}

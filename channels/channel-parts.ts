/** What a platform's channel gets from the composition root. */
import type { Readable } from 'node:stream';
import type { Logger } from '../src/observability/log.js';
import type { CommandSummary } from '../src/protocol/control.js';
import type { MediaRef } from '../src/protocol/messages.js';

export interface ChannelParts {
  /** Of this account: `telegram`, or `telegram.work` for `accounts.work`. */
  id: string;
  log: Logger;
  now: () => number;
  /** Settles after `ms`, or at once when the signal aborts. Never throws. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  store: ChannelStore;
  media: MediaReader;
  /** Our slash commands, for the platform's own menu. */
  commands: readonly CommandSummary[];
}

/**
 * What a channel must still know after a restart: drafts, threads it takes part in, parts already sent. Small values,
 * kept 30 days after the last write. Committed when `set` returns.
 */
export interface ChannelStore {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
  delete(key: string): void;
}

/** Files on their way out. */
export interface MediaReader {
  /** Throws `UserError` (`media_not_found`) when it is gone. */
  open(media: MediaRef): Promise<{ stream: Readable; size: number; mimeType: string; fileName: string }>;
}

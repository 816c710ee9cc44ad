/** Types of the crash harness's platform; see platform.mjs. */
import type { InboundMessage, OutboundMessage } from '../../src/protocol/messages.js';

export interface Platform {
  url: string;
  sent: OutboundMessage[];
  toolRuns: { label: string }[];
  offer(message: InboundMessage): void;
  until(isTrue: () => boolean): Promise<void>;
  close(): Promise<void>;
}

export function startPlatform(options: { isIdempotent: boolean }): Promise<Platform>;

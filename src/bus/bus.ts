/** The message bus: both durable queues, and the gate that closes when the daemon drains. It does not route. */
import { UserError } from '../protocol/errors.js';
import type { InboundMessage } from '../protocol/messages.js';
import type { Database } from '../storage/database.js';
import { createInboundQueue, type InboundQueue } from './inbound-queue.js';
import { createOutboundQueue, type OutboundQueue } from './outbound-queue.js';

export interface Bus {
  readonly inbound: InboundQueue;
  readonly outbound: OutboundQueue;
  /** What channels call. Throws like `InboundQueue.put`, and `UserError` `shutting_down` once the gate is closed. */
  receive(message: InboundMessage): { duplicate: boolean };
  closeGate(): void;
}

export function createBus(db: Database, options: { maxPerLane: number; now: () => number }): Bus {
  const inbound = createInboundQueue(db, options);
  let isOpen = true;
  return {
    inbound,
    outbound: createOutboundQueue(db, options),
    receive(message) {
      if (!isOpen) {
        throw new UserError(
          'shutting_down',
          'PicoBot is stopping and takes no new messages. Send it again in a moment.',
          {
            status: 503,
          },
        );
      }
      return inbound.put(message);
    },
    closeGate() {
      isOpen = false;
    },
  };
}

/** Holds all channels and keeps each running: a channel that fails starts again after growing pauses; a permanent error stops only it. */
import type { Logger } from '../src/observability/log.js';
import { describeError } from '../src/protocol/errors.js';
import type { ChannelStatus } from '../src/protocol/status.js';
import type { Channel, Receive } from './channel.js';
import { ChannelError } from './channel-error.js';

export interface ChannelManager {
  get(id: string): Channel | undefined;
  /** Runs every channel until `signal` aborts; settles when all have ended. */
  run(signal: AbortSignal): Promise<void>;
  statuses(): ChannelStatus[];
}

const firstPauseMs = 1000;
const longestPauseMs = 5 * 60_000;
/** A channel that ran this long before it failed starts again with the first pause. */
const healthyAfterMs = 60_000;

export function createChannelManager(options: {
  channels: readonly Channel[];
  receive: Receive;
  log: Logger;
  now: () => number;
  /** Settles after `ms`, or at once when the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}): ChannelManager {
  const { log, now } = options;
  const byId = new Map(options.channels.map((channel) => [channel.id, channel]));
  const statuses = new Map<string, ChannelStatus>(
    options.channels.map((channel) => [channel.id, { id: channel.id, state: 'starting' }]),
  );

  const supervise = async (channel: Channel, signal: AbortSignal) => {
    const status = statuses.get(channel.id)!;
    const receive: Receive = async (message) => {
      const receipt = await options.receive(message);
      status.lastMessageAt = now();
      return receipt;
    };
    for (let failures = 0; !signal.aborted; ) {
      const startedAt = now();
      status.state = 'running';
      try {
        await channel.run(receive, signal);
        if (signal.aborted) break;
        throw new ChannelError('temporary', `Channel ${channel.id} ended by itself.`);
      } catch (error) {
        if (signal.aborted) break;
        status.lastError = describeError(error).message;
        if (error instanceof ChannelError && error.kind === 'permanent') {
          status.state = 'failed';
          log.error({ err: error, channel: channel.id }, 'channel stopped for good');
          return;
        }
        failures = now() - startedAt > healthyAfterMs ? 1 : failures + 1;
        const pauseMs = retryPauseMs(error, failures);
        status.state = 'restarting';
        log.warn({ err: error, channel: channel.id, pauseMs }, 'channel failed and will start again');
        await options.sleep(pauseMs, signal);
      }
    }
    status.state = 'stopped';
  };

  return {
    get: (id) => byId.get(id),
    async run(signal) {
      await Promise.all(options.channels.map((channel) => supervise(channel, signal)));
    },
    statuses: () => [...statuses.values()].map((status) => ({ ...status })),
  };
}

/** The platform's own wait when it named one, else 1 s, 2 s, 4 s … up to five minutes. */
export function retryPauseMs(error: unknown, failures: number): number {
  const asked = error instanceof ChannelError ? error.retryAfterMs : undefined;
  return asked ?? Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1));
}

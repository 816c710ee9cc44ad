/**
 * Takes answers off the outbound queue and sends each through its channel, in order per chat, until the platform
 * confirms. The only place that retries a send. A row that was being sent when the process died is sent again:
 * a platform without idempotency may then show it twice, which is better than losing it.
 */
import type { OutboundQueue, QueuedAnswer } from '../src/bus/outbound-queue.js';
import type { Logger } from '../src/observability/log.js';
import { chatScope } from '../src/protocol/ids.js';
import type { Channel, Receipt } from './channel.js';
import { ChannelError } from './channel-error.js';
import { retryPauseMs } from './channel-manager.js';

export interface OutboundDispatcher {
  /** Takes up what is open, then sends as it comes, until `signal` aborts. */
  start(signal: AbortSignal): void;
  /** Sends what can be sent now and resolves; what would have to wait for a retry stays queued for the next start. */
  settle(): Promise<void>;
}

/** One send may take this long, uploads included. */
const sendTimeoutMs = 120_000;

export function createOutboundDispatcher(options: {
  queue: OutboundQueue;
  channel: (id: string) => Channel | undefined;
  checkpoint: (name: string) => void;
  /** Settles after `ms`, or at once when the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  log: Logger;
}): OutboundDispatcher {
  const { queue, log, checkpoint } = options;
  const chats = new Map<string, QueuedAnswer[]>();
  const sending = new Set<Promise<void>>();
  const settling = new AbortController();
  const pause = (ms: number, signal: AbortSignal) => options.sleep(ms, AbortSignal.any([signal, settling.signal]));

  const sendAll = async (chat: string, waiting: QueuedAnswer[], signal: AbortSignal) => {
    for (let answer = waiting[0]; answer && !signal.aborted; answer = waiting[0]) {
      const isDone = await deliver(answer, signal);
      if (!isDone) return;
      waiting.shift();
    }
    if (waiting.length === 0) chats.delete(chat);
  };

  /** True when the row is done, false when `signal` aborted or nobody can send it now. */
  const deliver = async (answer: QueuedAnswer, signal: AbortSignal): Promise<boolean> => {
    const { message, seq } = answer;
    const channel = options.channel(message.channel);
    if (!channel) {
      log.warn({ channel: message.channel, outboundId: message.id }, 'answer kept: its channel is not running');
      return false;
    }
    if (answer.perhapsDelivered && !channel.isIdempotent) {
      log.warn(
        { channel: channel.id, outboundId: message.id },
        'answer is sent again after a crash; it may appear twice',
      );
    }
    for (let failures = 1; !signal.aborted && !(failures > 1 && settling.signal.aborted); failures += 1) {
      if (!channel.isIdempotent) queue.markSending(seq);
      checkpoint('before-send');
      try {
        const receipt = await channel.send(message, AbortSignal.any([signal, AbortSignal.timeout(sendTimeoutMs)]));
        checkpoint('after-send');
        return await confirm(answer, receipt, signal);
      } catch (error) {
        if (signal.aborted) return false;
        const reason = error instanceof Error ? error.message : String(error);
        if (error instanceof ChannelError && error.kind === 'permanent') {
          log.error({ err: error, channel: channel.id, outboundId: message.id }, 'answer could not be delivered');
          queue.markFailed(seq, reason);
          return true;
        }
        const pauseMs = retryPauseMs(error, failures);
        log.warn({ err: error, channel: channel.id, outboundId: message.id, pauseMs }, 'answer will be sent again');
        queue.markRetry(seq, reason);
        await pause(pauseMs, signal);
      }
    }
    return false;
  };

  /** The platform has it: only the mark may be tried again, never the send. */
  const confirm = async ({ seq, message }: QueuedAnswer, receipt: Receipt, signal: AbortSignal): Promise<boolean> => {
    for (let failures = 1; !signal.aborted && !(failures > 1 && settling.signal.aborted); failures += 1) {
      try {
        queue.markSent(seq, receipt.platformId);
        return true;
      } catch (error) {
        log.error({ err: error, outboundId: message.id }, 'delivery could not be recorded and will be recorded later');
        await pause(retryPauseMs(error, failures), signal);
      }
    }
    return false;
  };

  const enqueue = (answer: QueuedAnswer, signal: AbortSignal) => {
    const chat = chatScope(answer.message);
    const waiting = chats.get(chat);
    if (waiting) {
      waiting.push(answer);
      return;
    }
    const fresh = [answer];
    chats.set(chat, fresh);
    const work: Promise<void> = sendAll(chat, fresh, signal)
      .catch((error: unknown) => log.error({ err: error, chat }, 'outbound queue could not be written'))
      .finally(() => sending.delete(work));
    sending.add(work);
  };

  return {
    start(signal) {
      for (const answer of queue.open()) enqueue(answer, signal);
      queue.onAnswer((answer) => enqueue(answer, signal));
    },
    async settle() {
      settling.abort();
      await Promise.all(sending);
    },
  };
}

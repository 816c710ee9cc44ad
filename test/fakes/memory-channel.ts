/** A chat platform in memory: a test says something, and reads what was sent. It can refuse, delay and forget confirmations. */
import type { Channel, Receive } from '../../channels/channel.js';
import type { InboundMessage, OutboundMessage, Progress } from '../../src/protocol/messages.js';

export interface MemoryChannel extends Channel {
  readonly sent: OutboundMessage[];
  readonly progressed: { chatId: string; update: Progress }[];
  /** Delivers one message from a person; resolves when it is stored. */
  say(text: string, message?: Partial<InboundMessage>): Promise<{ duplicate: boolean }>;
  /** The next message that was or will be sent, in order. */
  nextSent(): Promise<OutboundMessage>;
  /** What `send` does before it records: throw to refuse. */
  onSend: (message: OutboundMessage, signal: AbortSignal) => Promise<void> | void;
}

export function memoryChannel(options: { id?: string; isIdempotent?: boolean } = {}): MemoryChannel {
  const sent: OutboundMessage[] = [];
  const waiters: ((message: OutboundMessage) => void)[] = [];
  let read = 0;
  let messageCount = 0;
  let connected: (receive: Receive) => void = () => {};
  const receive = new Promise<Receive>((resolve) => {
    connected = resolve;
  });
  const progressed: MemoryChannel['progressed'] = [];
  const channel: MemoryChannel = {
    id: options.id ?? 'memory',
    maxTextLength: 4000,
    ...(options.isIdempotent !== undefined && { isIdempotent: options.isIdempotent }),
    sent,
    progressed,
    onSend: () => {},
    run(next, signal) {
      connected(next);
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    },
    async send(message, signal) {
      await channel.onSend(message, signal);
      sent.push(message);
      if (waiters.length > 0) {
        read += 1;
        waiters.shift()!(message);
      }
      return { platformId: `p${sent.length}` };
    },
    async progress(chatId, update) {
      progressed.push({ chatId, update });
    },
    async say(text, message = {}) {
      messageCount += 1;
      return (await receive)({
        channel: channel.id,
        chatId: 'chat',
        messageId: `m${messageCount}`,
        sender: { id: 'ann', name: 'Ann', role: 'owner' },
        chatType: 'direct',
        mentioned: true,
        text,
        attachments: [],
        sentAt: 0,
        ...message,
      });
    },
    nextSent() {
      const ready = sent[read];
      if (ready) {
        read += 1;
        return Promise.resolve(ready);
      }
      return new Promise((resolve) => waiters.push(resolve));
    },
  };
  return channel;
}

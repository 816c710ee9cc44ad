/** A real WebSocket client that keeps every frame it got. */
import { WebSocket } from 'ws';
import { token } from '../../gateway/server.js';

// biome-ignore lint/suspicious/noExplicitAny: tests read members that they expect to be there.
export type Frame = any;

export interface Client {
  readonly frames: Frame[];
  readonly socket: WebSocket;
  /** One frame, or several in one batch. */
  send(...frames: unknown[]): void;
  sendRaw(data: string | Buffer, options?: { binary?: boolean }): void;
  /** The first frame, old or new, that the predicate likes. Rejects when the connection closes first. */
  wait(isIt: (frame: Frame) => boolean): Promise<Frame>;
  /** The `end` of a turn. */
  end(messageId: string): Promise<Frame>;
  /** The answer of `system` after all that was sent before. */
  sync(): Promise<void>;
  readonly closed: Promise<number>;
  close(): void;
}

export function connect(server: { port: number }, query = ''): Promise<Client> {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/ws${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const frames: Frame[] = [];
  const waiters = new Set<(frame: Frame) => void>();
  socket.on('message', (data) => {
    const frame: Frame = JSON.parse(data.toString());
    frames.push(frame);
    for (const check of waiters) check(frame);
  });
  socket.on('error', () => {});
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  let syncs = 0;

  const client: Client = {
    frames,
    socket,
    closed,
    send: (...sent) => socket.send(sent.map((frame) => JSON.stringify(frame)).join('\n')),
    sendRaw: (data, options = {}) => socket.send(data, options),
    wait(isIt) {
      const known = frames.find(isIt);
      if (known) return Promise.resolve(known);
      return new Promise((resolve, reject) => {
        const check = (frame: Frame) => {
          if (!isIt(frame)) return;
          waiters.delete(check);
          resolve(frame);
        };
        waiters.add(check);
        void closed.then((code) => {
          if (waiters.delete(check))
            reject(new Error(`closed with ${code} after ${typesOf(frames.slice(-20)).join(', ')}`));
        });
      });
    },
    end: (messageId) => client.wait((frame) => frame.type === 'end' && frame.messageId === messageId),
    async sync() {
      syncs += 1;
      const messageId = `sync-${syncs}`;
      client.send({ type: 'system', messageId, content: { act: 'getVersion' } });
      await client.wait((frame) => frame.type === 'system' && frame.messageId === messageId);
    },
    close: () => socket.terminate(),
  };
  return new Promise((resolve, reject) => {
    socket.on('open', () => resolve(client));
    socket.on('error', reject);
  });
}

export function text(messageId: string, said = `say ${messageId}`, sessionId = 'default'): object {
  return { type: 'text', sessionId, messageId, content: { text: said } };
}

/** The answer as a client puts it together from its frames. */
export function textOf(frames: readonly Frame[], messageId?: string): string {
  return frames
    .filter((frame) => frame.type === 'text' && (messageId === undefined || frame.messageId === messageId))
    .map((frame) => frame.content)
    .join('');
}

export function typesOf(frames: readonly Frame[]): string[] {
  return frames.map((frame) => frame.type);
}

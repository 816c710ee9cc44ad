/** A TCP proxy before the gateway: cuts connections, in the middle of a frame too, and hands bytes on in odd pieces. */
import { connect, createServer, type Socket } from 'node:net';

export interface CuttingProxy {
  readonly port: number;
  readonly url: string;
  /** Connections accepted so far. */
  readonly accepted: number;
  /** Ends all connections without a farewell. */
  cut(): void;
  /** Ends each connection after so many more bytes in that direction. */
  cutAfter(direction: 'up' | 'down', bytes: number): void;
  /** Ends all connections right after the server has sent this. Once. */
  cutAfterText(text: string): void;
  /** While true, new connections are ended at once. */
  isDown: boolean;
  /** While true, bytes are taken and dropped: the peer has vanished without a word. */
  isDead: boolean;
  /** At most so many bytes at once. */
  pieceSize: number;
  close(): Promise<void>;
}

export async function startProxy(targetPort: number): Promise<CuttingProxy> {
  const pairs = new Set<{ client: Socket; target: Socket }>();
  const left = { up: Number.POSITIVE_INFINITY, down: Number.POSITIVE_INFINITY };
  let accepted = 0;
  let lastWords: string | undefined;

  const hand = (direction: 'up' | 'down', from: Socket, to: Socket) => {
    from.on('data', (data: Buffer) => {
      if (proxy.isDead) return;
      const at = direction === 'down' && lastWords !== undefined ? data.indexOf(lastWords) : -1;
      if (at !== -1) {
        left.down = at + Buffer.byteLength(lastWords!);
        lastWords = undefined;
      }
      const bytes = data.subarray(0, left[direction]);
      left[direction] -= bytes.length;
      for (let at = 0; at < bytes.length; at += proxy.pieceSize) to.write(bytes.subarray(at, at + proxy.pieceSize));
      if (left[direction] > 0) return;
      left[direction] = Number.POSITIVE_INFINITY;
      // What was written before the cut arrives, then the connection is gone.
      to.end(() => proxy.cut());
    });
    from.on('error', () => {});
    from.on('close', () => to.destroy());
  };

  const server = createServer((client) => {
    accepted += 1;
    if (proxy.isDown) {
      client.destroy();
      return;
    }
    client.setNoDelay(true);
    const target = connect(targetPort, '127.0.0.1').setNoDelay(true);
    const pair = { client, target };
    pairs.add(pair);
    client.on('close', () => pairs.delete(pair));
    hand('up', client, target);
    hand('down', target, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };

  const proxy: CuttingProxy = {
    port,
    url: `http://127.0.0.1:${port}`,
    get accepted() {
      return accepted;
    },
    cut() {
      for (const { client, target } of pairs) {
        client.destroy();
        target.destroy();
      }
      pairs.clear();
    },
    cutAfter(direction, bytes) {
      left[direction] = bytes;
    },
    cutAfterText(text) {
      lastWords = text;
    },
    isDown: false,
    isDead: false,
    pieceSize: Number.MAX_SAFE_INTEGER,
    async close() {
      proxy.cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

/** All sockets of the server, upgraded ones too: how many there are, and how they end. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export interface Connections {
  isOverLimit(): boolean;
  /** Settles when every socket has ended; the deadline ends those that have not. */
  close(deadlineMs: number): Promise<void>;
}

/** So many beyond the limit still get an answer that says why; more are dropped by the server at once. */
const headroom = 64;

export function createConnections(server: Server, limit: number): Connections {
  const sockets = new Set<Socket>();
  server.maxConnections = limit + headroom;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  return {
    isOverLimit: () => sockets.size > limit,
    async close(deadlineMs) {
      if (!server.listening) return;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // Answers that end during the closing leave idle sockets behind.
      const sweep = setInterval(() => server.closeIdleConnections(), 20);
      const deadline = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, deadlineMs);
      await closed;
      clearInterval(sweep);
      clearTimeout(deadline);
    },
  };
}

/** The WebSocket door: `/ws` serves two channels, the page's (`websocket`) and the terminal's (`cli_chat`). */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { HttpHost } from '../../src/gateway/http-host.js';
import type { EventFeed } from '../../src/protocol/control.js';
import { UserError } from '../../src/protocol/errors.js';
import type { ChatAddress } from '../../src/protocol/ids.js';
import type { Channel, Receive } from '../channel.js';
import { type Every, every } from '../every.js';
import { watchRuns } from '../run-watch.js';
import { Connection, type ConnectionParts } from './connection.js';
import { createFrameEncoder } from './encode.js';
import { closeCodes } from './outlet.js';

export interface WebSocketDoorOptions extends Omit<ConnectionParts, 'watch' | 'encode'> {
  feed: EventFeed;
  /** Default: real timers. */
  every?: Every;
}

const defaultChats: Record<string, string> = { websocket: 'web', cli_chat: 'terminal' };
export const heartbeatMs = 30_000;
/** How long a peer may take to answer a close before its socket is cut. */
const closeTimeoutMs = 5000;

/** Both channels; either of them mounts `/ws` for both. */
export function createWebSocketDoor(options: WebSocketDoorOptions): Channel[] {
  const parts: ConnectionParts = { ...options, watch: watchRuns(options.feed), encode: createFrameEncoder() };
  const receivers = new Map<string, Receive>();
  const connections = new Set<Connection>();
  let stopHeartbeat: (() => void) | undefined;
  let isMounted = false;

  const serve = (server: WebSocketServer, request: IncomingMessage, stream: Duplex, head: Buffer) => {
    server.handleUpgrade(request, stream, head, (socket) => {
      const chat = chatOf(request);
      if (!chat) {
        socket.on('error', () => {});
        socket.close(closeCodes.policy, 'channel must be websocket or cli_chat, chat 1 to 200 visible characters');
        return;
      }
      const receive: Receive = (message) => (receivers.get(chat.channel) ?? refuse)(message);
      const connection = new Connection(socket, stream, chat, parts, receive);
      connections.add(connection);
      stopHeartbeat ??= (options.every ?? every)(heartbeatMs, () => {
        for (const each of connections) each.beat();
      });
      socket.on('close', () => {
        connections.delete(connection);
        if (connections.size > 0) return;
        stopHeartbeat?.();
        stopHeartbeat = undefined;
      });
    });
  };

  const mount = (host: HttpHost) => {
    if (isMounted) return;
    isMounted = true;
    const serverOptions = {
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: host.maxTextBytes,
      closeTimeout: closeTimeoutMs,
    };
    const server = new WebSocketServer(serverOptions);
    host.onUpgrade('/ws', (request, stream, head) => serve(server, request, stream, head));
    host.onClose(() => {
      for (const connection of connections) connection.shutDown();
    });
  };

  return Object.keys(defaultChats).map((id) => ({
    id,
    maxTextLength: Number.MAX_SAFE_INTEGER,
    isIdempotent: true,
    async run(receive, signal) {
      receivers.set(id, receive);
      if (!signal.aborted) await once(signal, 'abort');
      receivers.set(id, refuseWhileStopping);
    },
    // Clients read the event feed and the transcript, where the answer is already.
    send: async () => ({}),
    mount,
  }));
}

/** From `/ws?channel=…&chat=…`; undefined when either is not what it may be. */
function chatOf(request: IncomingMessage): ChatAddress | undefined {
  const { searchParams } = new URL(request.url ?? '/', 'ws://localhost');
  const channel = searchParams.get('channel') ?? 'websocket';
  if (!Object.hasOwn(defaultChats, channel)) return undefined;
  const chatId = searchParams.get('chat') ?? defaultChats[channel]!;
  return chatId === '' || chatId.length > 200 || /\p{C}/u.test(chatId) ? undefined : { channel, chatId };
}

const refuse: Receive = async () => {
  throw new UserError('not_ready', 'PicoBot is starting. Try again in a moment.', { status: 503 });
};

const refuseWhileStopping: Receive = async () => {
  throw new UserError('shutting_down', 'PicoBot is stopping. Send the message again in a moment.', { status: 503 });
};

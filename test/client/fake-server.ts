/** A server of the protocol that does exactly what a test says: real HTTP and WebSocket on loopback, no daemon behind. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ClientFrame } from '../../src/protocol/frames.js';

export interface FakeConnection {
  readonly url: string;
  readonly authorization: string | undefined;
  /** Frames received so far, pings for life left out. */
  readonly frames: ClientFrame[];
  send(...frames: unknown[]): void;
  sendRaw(text: string): void;
  close(code?: number, reason?: string): void;
  terminate(): void;
}

export interface FakeServer {
  readonly url: string;
  readonly connections: FakeConnection[];
  /** HTTP requests as `METHOD path`. */
  readonly requests: string[];
  /** Answers HTTP; default: 404 as JSON. */
  onRequest: (request: IncomingMessage, response: ServerResponse, body: string) => void;
  /** Called for each frame. */
  onFrame: (frame: ClientFrame, connection: FakeConnection) => void;
  onConnection: (connection: FakeConnection) => void;
  /** When set, upgrades are answered with this status. */
  refuseWith: number | undefined;
}

export async function startFakeServer(): Promise<FakeServer> {
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      server.requests.push(`${request.method} ${request.url}`);
      server.onRequest(request, response, Buffer.concat(chunks).toString());
    });
  });
  const sockets = new WebSocketServer({ noServer: true });
  http.on('upgrade', (request, socket, head) => {
    if (server.refuseWith !== undefined) {
      socket.end(`HTTP/1.1 ${server.refuseWith} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (opened) => accept(request, opened));
  });
  const accept = (request: IncomingMessage, socket: WebSocket) => {
    const connection: FakeConnection = {
      url: request.url ?? '',
      authorization: request.headers.authorization,
      frames: [],
      send: (...frames) => socket.send(frames.map((frame) => JSON.stringify(frame)).join('\n')),
      sendRaw: (text) => socket.send(text),
      close: (code, reason) => socket.close(code, reason),
      terminate: () => socket.terminate(),
    };
    server.connections.push(connection);
    socket.on('message', (data) => {
      const frame = JSON.parse(data.toString()) as ClientFrame;
      connection.frames.push(frame);
      server.onFrame(frame, connection);
    });
    socket.on('error', () => {});
    server.onConnection(connection);
  };
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as { port: number };
  const server: FakeServer = {
    url: `http://127.0.0.1:${port}`,
    connections: [],
    requests: [],
    onRequest: (_, response) =>
      sendJson(response, 404, { error: { code: 'not_found', message: 'There is no such route.' } }),
    onFrame: () => {},
    onConnection: () => {},
    refuseWith: undefined,
  };
  onTestFinished(async () => {
    for (const client of sockets.clients) client.terminate();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  return server;
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Frames of a turn as the server would send them. */
export function turnFrames(messageId: string, runId = 'run_1', sessionId = 'default') {
  let eventId = 0;
  const frame = (type: string, content: unknown, id?: number) => {
    eventId = id ?? eventId + 1;
    return { type, sessionId, messageId, runId, eventId, content };
  };
  return {
    start: (model = 'fake/model', attempt = 1, id?: number) => frame('start', { model, attempt }, id),
    text: (content: string, id?: number) => frame('text', content, id),
    reasoning: (content: string) => frame('reasoning', content),
    notice: (content: string) => frame('notice', content),
    tool: (view: object) => frame('tool_calls', [view]),
    end: (text = '', stopReason = 'end_turn', id?: number) => frame('end', { stopReason, usage: {}, text }, id),
    error: (code: string, message: string) => ({ ...frame('error', { code, message }), eventId }),
  };
}

export function sync(messages: object[], lastEventId = 0, sessionId = 'default') {
  return { type: 'sync', sessionId, content: { messages, lastEventId } };
}

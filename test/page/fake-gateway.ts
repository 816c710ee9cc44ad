/**
 * A gateway for the page alone: the built files, the few API routes and `/ws`, as the protocol says,
 * with dialogs in memory and turns that a test (or a small script) plays by hand.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { WebSocketServer } from 'ws';
import type { ClientFrame } from '../../src/protocol/frames.js';
import { FakeConnection } from './fake-connection.js';
import { FakeDialog, type Play } from './fake-dialog.js';

export interface FakeGatewayOptions {
  /** Where the built page is. */
  pageFolder: string;
  /** Plays every turn. */
  play: Play;
  model?: string;
  /** Turns away every request without the cookie when false. Default true. */
  isSignedIn?: () => boolean;
}

const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export class FakeGateway {
  readonly dialogs = new Map<string, FakeDialog>();
  /** Paths of all requests, in order. */
  readonly requests: string[] = [];
  readonly #options: FakeGatewayOptions;
  readonly #connections = new Set<FakeConnection>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: 1024 * 1024 });
  #acceptsSockets = true;
  #newDialogs = 0;

  constructor(options: FakeGatewayOptions) {
    this.#options = options;
    this.#server.on('upgrade', (request, socket, head) => {
      if (!this.#acceptsSockets || !this.#isSignedIn()) {
        socket.end(`HTTP/1.1 ${this.#isSignedIn() ? 503 : 401} Refused\r\n\r\n`);
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
        const connection = new FakeConnection(webSocket, (frame) => this.#receive(connection, frame));
        this.#connections.add(connection);
        webSocket.on('close', () => {
          this.#connections.delete(connection);
          for (const dialog of this.dialogs.values()) dialog.unfollow(connection);
        });
      });
    });
  }

  async listen(port = 0): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) connection.terminate();
    for (const dialog of this.dialogs.values()) dialog.stop();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Cuts every connection, and refuses new ones until `acceptAgain`. */
  cut(): void {
    this.#acceptsSockets = false;
    for (const connection of this.#connections) connection.terminate();
  }

  acceptAgain(): void {
    this.#acceptsSockets = true;
  }

  dialog(dialogId: string): FakeDialog {
    let dialog = this.dialogs.get(dialogId);
    if (!dialog) {
      dialog = new FakeDialog(this, dialogId, this.#options.play);
      this.dialogs.set(dialogId, dialog);
    }
    return dialog;
  }

  makeCurrent(dialog: FakeDialog): void {
    for (const other of this.dialogs.values()) other.isCurrent = other === dialog;
  }

  /** Sends a frame that no dialog would. */
  broadcast(frame: object): void {
    for (const connection of this.#connections) connection.send(frame);
  }

  #isSignedIn(): boolean {
    return this.#options.isSignedIn?.() ?? true;
  }

  #receive(connection: FakeConnection, frame: ClientFrame): void {
    if (frame.type === 'system') {
      connection.send({ type: 'system', status: 'success', act: frame.content.act, data: { version: '0.1.0' } });
      return;
    }
    if (frame.type === 'setting') return;
    const sessionId = frame.sessionId ?? 'default';
    const isKnown = sessionId === 'default' || this.dialogs.get(sessionId)?.isDeleted === false;
    if (!isKnown) {
      connection.send({
        type: 'error',
        sessionId,
        content: { code: 'session_not_found', message: `There is no dialog "${sessionId}".` },
      });
      return;
    }
    // The first dialog is made anew when it is wanted again.
    if (this.dialogs.get(sessionId)?.isDeleted) this.dialogs.delete(sessionId);
    const dialog = this.dialog(sessionId);
    if (frame.type === 'subscribe') dialog.follow(connection, frame.lastEventId);
    else if (frame.type === 'unsubscribe') dialog.unfollow(connection);
    else if (frame.type === 'stop') dialog.stop();
    else dialog.receive(connection, frame.messageId ?? 'm', frame.content.text);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://page');
    this.requests.push(`${request.method} ${url.pathname}`);
    if (!url.pathname.startsWith('/api/')) {
      await this.#serveFile(url.pathname === '/' ? '/index.html' : url.pathname, response);
      return;
    }
    if (!this.#isSignedIn()) {
      sendJson(response, 401, { error: { code: 'unauthorized', message: 'Sign in.' } });
      return;
    }
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { status, answer } = this.#api(request.method ?? 'GET', url, body === '' ? {} : JSON.parse(body));
    sendJson(response, status, answer);
  }

  #api(method: string, url: URL, body: { title?: string; archived?: boolean }): { status: number; answer?: unknown } {
    if (url.pathname === '/api/status') {
      const { model = 'deepseek/deepseek-chat' } = this.#options;
      return { status: 200, answer: { version: '0.1.0', state: 'ready', startedAt: 0, model, channels: [] } };
    }
    if (url.pathname === '/api/sessions' && method === 'POST') {
      this.#newDialogs += 1;
      const dialog = this.dialog(`d_new${this.#newDialogs}`);
      return { status: 201, answer: dialog.summary() };
    }
    if (url.pathname === '/api/sessions') {
      const isArchived = url.searchParams.get('archived') === 'true';
      const items = [...this.dialogs.values()]
        .filter((dialog) => !dialog.isDeleted && dialog.isArchived === isArchived)
        .sort((a, b) => b.lastActiveAt - a.lastActiveAt)
        .map((dialog) => dialog.summary());
      return { status: 200, answer: { items } };
    }
    const [, , , id = '', part] = url.pathname.split('/').map(decodeURIComponent);
    const dialog = this.dialogs.get(id.split(':').at(-1) ?? '');
    if (!id.startsWith('websocket:web:') || !dialog || dialog.isDeleted) {
      const error = { code: 'session_not_found', message: `There is no dialog "${id}".` };
      return { status: 404, answer: { error } };
    }
    if (part === 'messages') {
      const before = Number(url.searchParams.get('before') ?? Number.MAX_SAFE_INTEGER);
      const older = dialog.messages.filter((message) => message.id < before);
      const items = older.slice(-Number(url.searchParams.get('limit') ?? 100));
      const answer = items.length < older.length ? { items, nextCursor: String(items[0]!.id) } : { items };
      return { status: 200, answer };
    }
    if (method === 'DELETE') {
      dialog.stop();
      dialog.isDeleted = true;
      return { status: 204 };
    }
    if (method === 'PATCH') {
      if (body.title !== undefined) dialog.title = body.title;
      if (body.archived !== undefined) dialog.isArchived = body.archived;
    }
    return { status: 200, answer: dialog.summary() };
  }

  async #serveFile(path: string, response: ServerResponse): Promise<void> {
    const bytes = await readFile(join(this.#options.pageFolder, path)).catch(() => undefined);
    if (!bytes) {
      response.writeHead(404).end();
      return;
    }
    response
      .writeHead(200, {
        'Content-Type': contentTypes[extname(path)] ?? 'application/octet-stream',
        'Content-Security-Policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      })
      .end(bytes);
  }
}

function sendJson(response: ServerResponse, status: number, answer: unknown): void {
  if (answer === undefined) {
    response.writeHead(status).end();
    return;
  }
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
}

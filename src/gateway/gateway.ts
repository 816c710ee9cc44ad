/** The one HTTP and WebSocket server: checks who calls, reads bodies within limits, hands over to routes and channels. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import type { Config } from '../config/schema.js';
import type { Logger } from '../observability/log.js';
import type { ControlChannel } from '../protocol/control.js';
import { UserError } from '../protocol/errors.js';
import { errorReply, refuseSocket, sendError } from './answer-error.js';
import { createGuard, queryToken } from './auth.js';
import { discardRest, readBody } from './body.js';
import { createConnections } from './connections.js';
import { listenError, notFound, tooManyConnections, wireError } from './gateway-errors.js';
import { isLoopback, urlOf } from './host-names.js';
import type { HostEnv, HttpHost } from './http-host.js';
import { createPage, sendText } from './page.js';
import { addSessionRoutes } from './session-routes.js';
import { addSystemRoutes, type SystemSources } from './system-routes.js';

export interface Gateway {
  readonly host: HttpHost;
  /** Throws `UserError`: `port_in_use`, `port_forbidden`, `host_not_available`, `weak_token`. */
  listen(): Promise<{ url: string; port: number }>;
  /** Takes no new connections, tells those who still wait, and ends every socket at the deadline at the latest. */
  close(deadlineMs: number): Promise<void>;
}

export interface GatewayOptions extends SystemSources {
  config: Config['gateway'];
  token: string;
  log: Logger;
  control: ControlChannel;
  /** The built page; it may be missing. */
  pageDir: string;
  now: () => number;
}

const minTokenLength = 16;
const headersTimeoutMs = 15_000;
/** For a whole request to arrive, not for its answer. */
const requestTimeoutMs = 60_000;
const keepAliveTimeoutMs = 65_000;

/** Open to everybody: liveness, readiness, and webhooks, which check their platform's signature. Plain paths only, nothing encoded. */
const webhookPath = /^\/webhooks(?:\/[\w-]+)+$/;

export function createGateway(options: GatewayOptions): Gateway {
  const { config, token, log, now } = options;
  const guard = createGuard({ config, token, now });
  const page = createPage(options.pageDir);
  const routes = new Hono<HostEnv>();
  const upgrades = new Map<string, Parameters<HttpHost['onUpgrade']>[1]>();
  const closeHandlers: (() => void)[] = [];
  let isClosing = false;

  addSystemRoutes(routes, options);
  addSessionRoutes(routes, options.control);
  routes.notFound(() => {
    throw notFound();
  });
  routes.onError((error, c) => {
    const { status, body, headers } = errorReply(error);
    if (status >= 500 && status !== 503)
      log.error({ err: error, method: c.req.method, path: c.req.path }, 'request failed');
    return new Response(body, { status, headers });
  });

  const toHono = getRequestListener(
    (request, env) => {
      const { incoming, outgoing } = env as HostEnv['Bindings'];
      const { rawBody: body = empty } = incoming as WithBody;
      return routes.fetch(request, { incoming, outgoing, body });
    },
    // The embedding program's own Request and Response stay as they are.
    { overrideGlobalObjects: false, errorHandler: badTarget },
  );

  /** Answers what needs no token; true when it did. */
  async function answerOpenly(path: string, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    if (path === '/healthz' || webhookPath.test(path)) return false;
    guard.checkHost(request);
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    const linkToken = path === '/' ? queryToken(request) : undefined;
    if (linkToken !== undefined) {
      response.setHeader('Set-Cookie', guard.cookieFor(request, linkToken));
      response.setHeader('Referrer-Policy', 'no-referrer');
      response.writeHead(302, { Location: '/', 'Cache-Control': 'no-store' }).end();
      return true;
    }
    return !isReserved(path) && page.serve(path, request, response);
  }

  /** Answers a browser's question whether a page of another site may call; adds the answer to real calls. */
  function answerPreflight(request: IncomingMessage, response: ServerResponse): boolean {
    const origin = guard.foreignOrigin(request);
    if (origin === undefined) return false;
    response.setHeader('Access-Control-Allow-Origin', origin);
    response.setHeader('Vary', 'Origin');
    if (request.method !== 'OPTIONS') return false;
    response.setHeader('Access-Control-Allow-Methods', 'GET, POST, PATCH, DELETE');
    response.setHeader('Access-Control-Allow-Headers', 'Authorization, Content-Type, Last-Event-ID');
    response.setHeader('Access-Control-Max-Age', '600');
    response.writeHead(204).end();
    return true;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (isClosing) response.shouldKeepAlive = false;
    const path = pathOf(request);
    try {
      if (connections.isOverLimit()) {
        response.shouldKeepAlive = false;
        throw tooManyConnections(config.maxConnections);
      }
      response.setHeader('X-Content-Type-Options', 'nosniff');
      if (await answerOpenly(path, request, response)) return;
      response.setHeader('Cache-Control', 'no-store');
      if (path !== '/healthz' && path !== '/readyz' && !webhookPath.test(path)) {
        if (answerPreflight(request, response)) return;
        guard.check(request);
      }
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        (request as WithBody).rawBody = await readBody(request, response, config.maxTextBytes);
      }
    } catch (error) {
      if (!(error instanceof UserError)) log.error({ err: error, method: request.method, path }, 'request failed');
      if (error instanceof UserError && path === '/' && error.status !== 413) sendLinkError(request, response, error);
      else sendError(response, error);
      discardRest(request);
      return;
    }
    await toHono(request, response);
  }

  const server = createServer(
    {
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      connectionsCheckingInterval: 5000,
      // Finds peers that vanished while an answer is awaited.
      keepAlive: true,
    },
    onRequest,
  );
  const connections = createConnections(server, config.maxConnections);

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    handle(request, response).catch((error: unknown) => {
      log.error({ err: error, method: request.method, path: pathOf(request) }, 'request failed');
      sendError(response, error);
    });
  }

  server.on('checkContinue', onRequest);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    else refuseSocket(socket, wireError(error));
  });
  server.on('upgrade', (request, socket: Duplex, head) => {
    const onError = () => socket.destroy();
    socket.on('error', onError);
    try {
      if (isClosing) throw new UserError('shutting_down', 'PicoBot is stopping.', { status: 503 });
      if (connections.isOverLimit()) throw tooManyConnections(config.maxConnections);
      guard.check(request, { takesQueryToken: true });
      const upgrade = upgrades.get(pathOf(request));
      if (!upgrade) throw notFound();
      if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
        throw new UserError('unsupported_upgrade', 'Only WebSocket connections are taken here.', { status: 400 });
      }
      socket.off('error', onError);
      upgrade(request, socket, head);
    } catch (error) {
      if (!(error instanceof UserError)) log.error({ err: error }, 'upgrade failed');
      refuseSocket(socket, error);
    }
  });

  return {
    host: {
      routes,
      maxTextBytes: config.maxTextBytes,
      onUpgrade: (path, handler) => upgrades.set(path, handler),
      onClose: (handler) => closeHandlers.push(handler),
    },
    async listen() {
      if (!isLoopback(config.host.toLowerCase()) && token.length < minTokenLength) {
        throw new UserError(
          'weak_token',
          `Others can reach ${config.host}, so the access token needs at least ${minTokenLength} characters. Set "gateway.token", or remove it to use the generated one.`,
        );
      }
      await new Promise<void>((resolve, reject) => {
        const refuse = (error: NodeJS.ErrnoException) => reject(listenError(error, config));
        server.once('error', refuse);
        server.listen({ host: config.host, port: config.port, exclusive: true }, () => {
          server.off('error', refuse);
          resolve();
        });
      });
      server.on('error', (error) => log.error({ err: error }, 'server error'));
      const { port } = server.address() as AddressInfo;
      log.info({ host: config.host, port }, 'gateway listens');
      return { url: urlOf(config.host, port), port };
    },
    async close(deadlineMs) {
      isClosing = true;
      const closed = connections.close(deadlineMs);
      for (const handler of closeHandlers) {
        try {
          handler();
        } catch (error) {
          log.error({ err: error }, 'closing a door failed');
        }
      }
      await closed;
    },
  };
}

type WithBody = IncomingMessage & {
  /** Where the HTTP adapter looks for a body that was read already. */
  rawBody?: Buffer;
};

const empty = new Uint8Array(0);

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split(/[?#]/, 1)[0]!;
}

/** Names of routes, never of files of the page. */
function isReserved(path: string): boolean {
  return /^\/(?:api|v1|webhooks|ws|metrics|healthz|readyz)(?:\/|$)/.test(path);
}

/** Whoever clicked a link reads a sentence, not JSON. */
function sendLinkError(request: IncomingMessage, response: ServerResponse, error: UserError): void {
  sendText(response, error.status, 'text/plain; charset=utf-8', `${error.message}\n`, request);
}

function badTarget(): Response {
  const error = new UserError('bad_request', 'The request names no valid address. Check the path and the Host header.');
  const { status, body, headers } = errorReply(error);
  return new Response(body, { status, headers });
}

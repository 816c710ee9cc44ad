/**
 * Who may enter: Host (against names that a foreign page rebinds to this machine), Origin (against pages of
 * other sites in the user's browser), token. The same checks for HTTP requests and WebSocket upgrades.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Config } from '../config/schema.js';
import { UserError } from '../protocol/errors.js';
import { createAttemptLimiter } from './attempt-limiter.js';
import { hostNameOf, isLoopback, isWildcard, plainAddress } from './host-names.js';

export interface Guard {
  /** Throws `host_refused`. */
  checkHost(request: IncomingMessage): void;
  /** Throws `host_refused`, `origin_refused`, `unauthorized` or `too_many_attempts`. */
  check(request: IncomingMessage, options?: { takesQueryToken?: boolean }): void;
  /** Checks the token of a printed link; the cookie to set when it is right. Throws like `check`. */
  cookieFor(request: IncomingMessage, token: string): string;
  /** The request's Origin when it is a foreign one that the configuration allows. */
  foreignOrigin(request: IncomingMessage): string | undefined;
}

const cookieName = 'picobot_token';
const cookieSeconds = 365 * 86_400;

export function createGuard(options: {
  config: Pick<Config['gateway'], 'host' | 'allowedHosts' | 'allowedOrigins'>;
  token: string;
  now: () => number;
}): Guard {
  const { config, token } = options;
  const expected = digest(token);
  const limiter = createAttemptLimiter(options.now);
  const hosts = new Set([config.host, ...config.allowedHosts].map((text) => hostNameOf(text) ?? text.toLowerCase()));
  const origins = new Set(config.allowedOrigins.map((text) => text.toLowerCase().replace(/\/$/, '')));

  const isKnownHost = (name: string, request: IncomingMessage) =>
    isLoopback(name) ||
    hosts.has(name) ||
    // Bound to every address: the one that this connection came to is a name of ours, and no foreign page can fake it.
    (isWildcard(config.host) && name === plainAddress(request.socket.localAddress));

  const checkHost = (request: IncomingMessage) => {
    const { host = '' } = request.headers;
    const name = hostNameOf(host);
    if (name !== undefined && isKnownHost(name, request)) return;
    throw new UserError(
      'host_refused',
      `This server does not answer to the name "${host.slice(0, 200)}". If that name is yours, add it to "gateway.allowedHosts".`,
      { status: 403 },
    );
  };

  const checkOrigin = (request: IncomingMessage) => {
    const { origin } = request.headers;
    if (origin === undefined) {
      // A browser that leaves Origin out says here where a request comes from; programs send neither.
      const site = request.headers['sec-fetch-site'];
      if (site === undefined || site === 'same-origin' || site === 'none') return;
    } else if (isSameOrigin(origin, request) || origins.has(origin.toLowerCase())) {
      return;
    }
    throw new UserError(
      'origin_refused',
      `Pages of ${origin ?? 'other sites'} may not call this server. If you trust them, add the origin to "gateway.allowedOrigins".`,
      { status: 403 },
    );
  };

  const checkToken = (request: IncomingMessage, presented: string, isCookie: boolean) => {
    const address = plainAddress(request.socket.remoteAddress);
    const blockedForMs = limiter.blockedForMs(address);
    if (blockedForMs > 0) {
      const seconds = Math.ceil(blockedForMs / 1000);
      throw new UserError('too_many_attempts', `Too many wrong tokens. Try again in ${seconds} seconds.`, {
        status: 429,
        details: { retryAfterSeconds: seconds },
      });
    }
    const actual = digest(presented);
    if (token !== '' && timingSafeEqual(actual, expected)) return;
    limiter.addFailure(address, isCookie ? actual.toString('base64') : undefined);
    throw unauthorized('The access token is wrong.');
  };

  return {
    checkHost,
    check(request, { takesQueryToken = false } = {}) {
      checkHost(request);
      checkOrigin(request);
      const bearer = bearerOf(request);
      const query = takesQueryToken ? queryToken(request) : undefined;
      const cookie = bearer ?? query ?? cookieOf(request);
      if (cookie === undefined) throw unauthorized('An access token is needed.');
      checkToken(request, cookie, bearer === undefined && query === undefined);
    },
    cookieFor(request, presented) {
      checkHost(request);
      checkToken(request, presented, false);
      return `${cookieName}=${encodeURIComponent(presented)}; Path=/; Max-Age=${cookieSeconds}; HttpOnly; SameSite=Strict`;
    },
    foreignOrigin(request) {
      const { origin } = request.headers;
      return origin !== undefined && !isSameOrigin(origin, request) && origins.has(origin.toLowerCase())
        ? origin
        : undefined;
    },
  };
}

function unauthorized(problem: string): UserError {
  return new UserError(
    'unauthorized',
    `${problem} Send "Authorization: Bearer <token>"; the daemon prints a link with the token when it starts.`,
    { status: 401 },
  );
}

/** Compared without the scheme: a proxy in front may speak https for us. */
function isSameOrigin(origin: string, request: IncomingMessage): boolean {
  const match = /^https?:\/\/([^/]+)$/i.exec(origin);
  return match !== null && match[1]!.toLowerCase() === request.headers.host?.toLowerCase();
}

function bearerOf(request: IncomingMessage): string | undefined {
  const header = request.headers.authorization;
  return header === undefined ? undefined : (/^Bearer +(\S+) *$/i.exec(header)?.[1] ?? '');
}

/** The `token` of the query; undefined when there is none. */
export function queryToken(request: IncomingMessage): string | undefined {
  const url = request.url ?? '';
  const start = url.indexOf('?');
  return start === -1 ? undefined : (new URLSearchParams(url.slice(start)).get('token') ?? undefined);
}

function cookieOf(request: IncomingMessage): string | undefined {
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const [name, value = ''] = pair.trim().split('=', 2);
    if (name !== cookieName || value === '') continue;
    try {
      return decodeURIComponent(value);
    } catch {
      return value;
    }
  }
  return undefined;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

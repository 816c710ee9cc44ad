/** The HTTP routes that the command line uses. Failures are `UserError`: the server's code, or why there was no answer. */
import type { Page, SearchHit, SessionSummary, VisibleMessage } from '../protocol/control.js';
import { UserError } from '../protocol/errors.js';
import type { DaemonStatus } from '../protocol/status.js';
import { below } from './socket-address.js';

export interface HttpOptions {
  url: string;
  token: string;
  fetch?: typeof fetch;
}

export interface SessionQuery {
  channel?: string | undefined;
  chatId?: string | undefined;
  archived?: boolean | undefined;
  limit?: number | undefined;
  cursor?: string | undefined;
}

export interface HttpClient {
  status(): Promise<DaemonStatus>;
  sessions(query: SessionQuery): Promise<Page<SessionSummary>>;
  /** `id` is a full one here and below. */
  session(id: string): Promise<SessionSummary>;
  createSession(options: { channel: string; chatId: string; title?: string }): Promise<SessionSummary>;
  updateSession(id: string, change: { title?: string; archived?: boolean }): Promise<SessionSummary>;
  deleteSession(id: string): Promise<void>;
  /** Takes back a delete or an archiving. */
  restoreSession(id: string): Promise<SessionSummary>;
  /** Oldest first. */
  messages(id: string, options?: { before?: number; limit?: number }): Promise<Page<VisibleMessage>>;
  search(query: { query: string; role?: string; limit?: number }): Promise<Page<SearchHit>>;
  stop(sessionId: string): Promise<{ stopped: boolean; cleared: number }>;
}

const timeoutMs = 15_000;
const brokenCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

export function createHttpClient(options: HttpOptions): HttpClient {
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await request(options, path, {
      method,
      signal: AbortSignal.timeout(timeoutMs),
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    if (response.status === 204) return undefined as T;
    return (await readAnswer(response, options.url)) as T;
  };
  return {
    status: () => call('GET', 'api/status'),
    sessions: (query) => call('GET', `api/sessions${queryText({ ...query })}`),
    session: (id) => call('GET', sessionPath(id)),
    createSession: (session) => call('POST', 'api/sessions', session),
    updateSession: (id, change) => call('PATCH', sessionPath(id), change),
    deleteSession: (id) => call('DELETE', sessionPath(id)),
    restoreSession: (id) => call('POST', `${sessionPath(id)}/restore`),
    messages: (id, page = {}) => call('GET', `${sessionPath(id)}/messages${queryText(page)}`),
    search: (query) => call('GET', `api/search${queryText(query)}`),
    stop: (sessionId) => call('POST', 'api/chat/stop', { sessionId }),
  };
}

/** The response, when it is a good one. Throws the server's error, `not_running`, `unreachable`, `connection_lost`, or the signal's reason. */
export async function request(
  options: HttpOptions,
  path: string,
  init: RequestInit & { signal: AbortSignal },
): Promise<Response> {
  const { url, token } = options;
  let response: Response;
  try {
    response = await (options.fetch ?? fetch)(below(url, path), {
      ...init,
      redirect: 'error',
      headers: { ...init.headers, authorization: `Bearer ${token}` },
    });
  } catch (error) {
    if (init.signal.aborted && !isTimeout(init.signal)) throw init.signal.reason;
    throw noAnswer(url, error);
  }
  if (response.ok) return response;
  throw await errorOf(response, url);
}

async function readAnswer(response: Response, url: string): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    throw new UserError('bad_answer', `What answers at ${url} is not PicoBot, or the answer broke off.`, {
      cause: error,
    });
  }
}

async function errorOf(response: Response, url: string): Promise<UserError> {
  const { status } = response;
  const answer = (await response.json().catch(() => ({}))) as {
    error?: { code?: unknown; message?: unknown; details?: unknown };
  };
  const { code, message, details } = answer?.error ?? {};
  if (typeof code !== 'string' || typeof message !== 'string') {
    return new UserError('bad_answer', `What answers at ${url} is not PicoBot: it answered with status ${status}.`, {
      status,
    });
  }
  if (code === 'unauthorized') {
    return new UserError(
      code,
      `The daemon at ${url} wants another token. Give its token with --token or PICOBOT_TOKEN; it is in the file "token" of its home.`,
      { status },
    );
  }
  return new UserError(code, message, { status, details });
}

function noAnswer(url: string, error: unknown): UserError {
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') {
    return new UserError(
      'not_running',
      `No daemon answers at ${url}. Start it with "npm start", or name another address with --url.`,
      { cause: error },
    );
  }
  if (code !== undefined && brokenCodes.has(code)) {
    return new UserError('connection_lost', `The connection to ${url} broke before the answer came. Try again.`, {
      cause: error,
    });
  }
  return new UserError('unreachable', `${url} cannot be reached${code ? ` (${code})` : ''}. Check the address.`, {
    cause: error,
  });
}

/** Of the failure at the bottom: fetch wraps it, and wraps several when a name has several addresses. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'TimeoutError') return 'timeout';
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return codeOf(error.cause) ?? (error as { code?: string }).code;
}

function isTimeout(signal: AbortSignal): boolean {
  return signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
}

function sessionPath(id: string): string {
  return `api/sessions/${encodeURIComponent(id)}`;
}

function queryText(values: Record<string, string | number | boolean | undefined>): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) if (value !== undefined) query.set(key, String(value));
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

/** The HTTP routes that the page uses. Failures are `ApiError` with the server's code. */
import type { Page, SessionSummary, VisibleMessage } from '../../../../../src/protocol/control.js';
import type { DaemonStatus } from '../../../../../src/protocol/status.js';

export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** `network_error` when the gateway could not be reached, `unauthorized` without a valid token. */
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status: number, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.status = status;
  }
}

export interface Api {
  status(): Promise<DaemonStatus>;
  sessions(filter: { archived: boolean; limit: number; cursor?: string }): Promise<Page<SessionSummary>>;
  session(id: string): Promise<SessionSummary>;
  createSession(): Promise<SessionSummary>;
  updateSession(id: string, change: { title?: string; archived?: boolean }): Promise<SessionSummary>;
  deleteSession(id: string): Promise<void>;
  /** Oldest first; `before` is an event id, exclusive. */
  messages(id: string, options: { before?: number; limit: number }): Promise<Page<VisibleMessage>>;
}

/** The page's own chat; a dialog key without `:` names a dialog of it. */
const ownChat = { channel: 'websocket', chatId: 'web' };

export function createApi(fetchLike: typeof fetch): Api {
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    let response: Response;
    try {
      response = await fetchLike(path, {
        method,
        credentials: 'same-origin',
        ...(body !== undefined && {
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        }),
      });
    } catch (cause) {
      throw new ApiError('network_error', 'The gateway could not be reached.', 0, { cause });
    }
    const answer: unknown = await response.json().catch(() => undefined);
    if (response.ok) return answer as T;
    const error = (answer as { error?: { code?: string; message?: string } } | undefined)?.error;
    const code = response.status === 401 ? 'unauthorized' : (error?.code ?? `http_${response.status}`);
    throw new ApiError(code, error?.message ?? `The gateway answered ${response.status}.`, response.status);
  };
  return {
    status: () => call('GET', '/api/status'),
    sessions: ({ archived, limit, cursor }) =>
      call('GET', `/api/sessions?${queryOf({ ...ownChat, archived, limit, cursor })}`),
    session: (id) => call('GET', sessionPath(id)),
    createSession: () => call('POST', '/api/sessions', ownChat),
    updateSession: (id, change) => call('PATCH', sessionPath(id), change),
    deleteSession: (id) => call('DELETE', sessionPath(id)),
    messages: (id, options) => call('GET', `${sessionPath(id)}/messages?${queryOf(options)}`),
  };
}

/** The dialog key as frames and the URL hash name it: bare for the page's own chat, else the full id. */
export function dialogKey(session: SessionSummary): string {
  const isOwn = session.channel === ownChat.channel && session.chatId === ownChat.chatId;
  return isOwn && !session.dialogId.includes(':') ? session.dialogId : session.id;
}

function sessionPath(key: string): string {
  const id = key.includes(':') ? key : `${ownChat.channel}:${ownChat.chatId}:${key.replaceAll('%', '%25')}`;
  return `/api/sessions/${encodeURIComponent(id)}`;
}

function queryOf(values: Record<string, string | number | boolean | undefined>): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) if (value !== undefined) query.set(key, String(value));
  return query.toString();
}

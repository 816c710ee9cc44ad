/** Makes `ProviderError`s of everything that goes wrong on a wire; no key and no full URL ever gets into one. */
import type { Redactor } from '../config/redact.js';
import { classify, statusOfBaseResp, statusOfCode } from './classify.js';
import { ProviderError, type ProviderErrorKind } from './provider-error.js';
import { parseRetryAfter } from './retry-after.js';

export interface WireErrors {
  /** A status that is not 2xx. `body` may be cut. */
  ofResponse(status: number, headers: { get(name: string): string | null }, body: string): ProviderError;
  /** An error object inside a 200, as JSON body or as a frame of a stream; undefined when there is none. */
  ofPayload(payload: unknown): ProviderError | undefined;
  /** What the transport or the SDK threw. */
  ofThrown(error: unknown): ProviderError;
  of(kind: ProviderErrorKind, text: string, options?: ErrorOptions): ProviderError;
}

export interface ErrorContext {
  /** `platform/model`. */
  reference: string;
  platformId: string;
  platformName: string;
  /** Host and port of the base URL. */
  host: string;
  keyVariables: readonly string[];
  redact: Redactor;
  /** ms since the epoch. */
  now: () => number;
}

export function createWireErrors(context: ErrorContext): WireErrors {
  const { platformId, platformName, reference, host } = context;

  const advice: Record<ProviderErrorKind, string> = {
    auth: `Check platforms.${platformId}.apiKey${context.keyVariables.map((name) => ` or ${name}`).join('')}.`,
    quota: 'Top up the account, or name other models in agent.fallbacks.',
    'rate-limited': 'Try again a little later.',
    overloaded: 'Try again a little later.',
    network: `Check the network and platforms.${platformId}.baseUrl.`,
    'context-too-long': 'Start a new dialog or compact this one.',
    'content-refused': 'Put it in other words, or use another model.',
    'bad-request': '',
    'not-found': `Check that "${reference}" is right and that platforms.${platformId}.baseUrl fits.`,
  };

  function make(
    kind: ProviderErrorKind,
    text: string,
    options: ErrorOptions & { status?: number; retryAfterMs?: number } = {},
  ): ProviderError {
    const told = context.redact(plain(text));
    return new ProviderError(kind, advice[kind] ? `${told} ${advice[kind]}` : told, options);
  }

  function ofComplaint(complaint: {
    status: number | undefined;
    code: string;
    message: string;
    retryAfterMs?: number | undefined;
  }): ProviderError {
    const { status, retryAfterMs } = complaint;
    const kind = classify(complaint);
    const where = status === undefined ? '' : ` (HTTP ${status})`;
    const said = sentence(complaint.message || complaint.code || 'no reason given');
    return make(kind, `${platformName} ${verbs[kind]}${where}: ${said}`, {
      ...(status !== undefined && { status }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }

  return {
    of: make,
    ofResponse(status, headers, body) {
      const retryAfterMs = parseRetryAfter(headers, context.now());
      if (status >= 300 && status < 400) {
        const text = `${platformName} at ${host} answered with a redirect (HTTP ${status}), which is not followed.`;
        return make('bad-request', `${text} Put the final address into platforms.${platformId}.baseUrl.`, { status });
      }
      return ofComplaint({ status, ...readComplaint(body), retryAfterMs });
    },
    ofPayload(payload) {
      if (typeof payload !== 'object' || payload === null) return undefined;
      const { error, base_resp: baseResp, type, response } = payload as Record<string, unknown>;
      if (isObject(baseResp) && typeof baseResp.status_code === 'number' && baseResp.status_code !== 0) {
        const status = statusOfBaseResp(baseResp.status_code);
        const message = typeof baseResp.status_msg === 'string' ? baseResp.status_msg : '';
        return ofComplaint({ status, code: String(baseResp.status_code), message });
      }
      const failed = type === 'response.failed' && isObject(response) ? response.error : undefined;
      const found = error || failed || (type === 'error' ? payload : undefined);
      if (!found) return undefined;
      const status = isObject(found) ? (statusOfCode(found.code) ?? statusOfCode(found.status)) : undefined;
      return ofComplaint({ status, ...complaintOf(found) });
    },
    ofThrown(error) {
      const own = findCause(error, (cause) => cause instanceof ProviderError);
      if (own) return own as ProviderError;
      if (causeNamed(error, 'AI_JSONParseError')) return make('network', 'A part of the answer came broken.');
      if (causeNamed(error, 'AI_TypeValidationError')) {
        return make('bad-request', 'A part of the answer does not follow the protocol and cannot be read.');
      }
      const message = error instanceof Error ? error.message : String(error);
      const failure = findCause(error, isNetworkError) as NodeJS.ErrnoException | undefined;
      if (failure || /\b(fetch failed|terminated|other side closed)\b/i.test(message)) {
        const reason = failure ? `${networkReason(failure)}.` : sentence(message);
        return make('network', `${platformName} at ${host} cannot be reached: ${reason}`, {
          ...(failure && { cause: plainCause(failure, context.redact) }),
        });
      }
      const text = `${platformName} gave an answer that cannot be read, or cannot take this request: ${sentence(message)}`;
      return make('bad-request', text, error instanceof Error ? { cause: plainCause(error, context.redact) } : {});
    },
  };
}

const verbs: Record<ProviderErrorKind, string> = {
  auth: 'refused the key',
  quota: 'says that the account is out of quota or money',
  'rate-limited': 'limits the rate',
  overloaded: 'is overloaded or failing',
  network: 'cannot be reached',
  'context-too-long': 'says that the conversation is too long for the model',
  'content-refused': 'refused the content',
  'bad-request': 'refused the request',
  'not-found': 'does not know the model or the address',
};

/** The error of an HTTP body in any of the shapes in use, an HTML page included. */
function readComplaint(body: string): { code: string; message: string } {
  const text = body.trim();
  if (text.startsWith('<')) {
    const title = /<title[^>]*>([^<]*)</i.exec(text)?.[1]?.trim();
    return { code: '', message: title ? `a web page titled "${title}"` : 'a web page instead of an answer' };
  }
  try {
    return complaintOf(JSON.parse(text));
  } catch {
    return { code: '', message: text };
  }
}

function complaintOf(value: unknown): { code: string; message: string } {
  if (typeof value === 'string') return { code: '', message: value };
  if (Array.isArray(value)) return complaintOf(value[0]);
  if (!isObject(value)) return { code: '', message: '' };
  for (const inner of [value.error, value.errors, value.detail, value.base_resp]) {
    if (inner && (typeof inner === 'object' || typeof inner === 'string')) return complaintOf(inner);
  }
  const code = [value.code, value.type, value.status, value.status_code]
    .filter((part) => typeof part === 'string' || typeof part === 'number')
    .join(' ');
  const message = [value.message, value.msg, value.error_msg, value.status_msg].find(
    (part) => typeof part === 'string',
  );
  return { code, message: (message as string | undefined) ?? '' };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** The first of the chain of causes that fits. */
function findCause(error: unknown, fits: (cause: Error) => boolean): unknown {
  let current = error;
  for (let depth = 0; depth < 8 && current instanceof Error; depth++) {
    if (fits(current)) return current;
    const inner: unknown = current instanceof AggregateError ? current.errors[0] : current.cause;
    current = inner;
  }
  return undefined;
}

/** The SDK's words for a part that is not JSON, or not of the family; their text holds the answer and is not repeated. */
function causeNamed(error: unknown, name: string): boolean {
  return findCause(error, (cause) => cause.name === name) !== undefined;
}

/** Node's and OpenSSL's codes; `ERR_…` of Node's own checks are our bugs. */
function isNetworkError(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && (!code.startsWith('ERR_') || /TLS|SSL/.test(code));
}

const networkReasons: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there (ECONNREFUSED)',
  ENOTFOUND: 'the host name is unknown (ENOTFOUND)',
  EAI_AGAIN: 'the host name cannot be looked up (EAI_AGAIN)',
  ECONNRESET: 'the connection was cut (ECONNRESET)',
  EPIPE: 'the connection was cut (EPIPE)',
  UND_ERR_SOCKET: 'the connection was cut (UND_ERR_SOCKET)',
  ETIMEDOUT: 'the connection timed out (ETIMEDOUT)',
};

function networkReason(error: NodeJS.ErrnoException): string {
  return networkReasons[error.code ?? ''] ?? `${error.message} (${error.code})`;
}

/** SDK errors carry the whole request; only name, code and text of the failure are kept. */
function plainCause(error: Error, redact: Redactor): Error {
  const { code } = error as NodeJS.ErrnoException;
  const cause = new Error(redact(plain(error.message)));
  cause.name = error.name;
  return Object.assign(cause, typeof code === 'string' && { code });
}

/** One line of at most 600 characters, no control characters, nothing that looks like a key. */
function plain(text: string): string {
  const line = text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .replace(/\b(sk|pk|key|tok)[-_][\w*.-]{8,}/gi, '$1-***')
    .trim();
  return line.length > 600 ? `${line.slice(0, 600)}…` : line;
}

function sentence(text: string): string {
  const trimmed = text.trim();
  return /[.!?。！？…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

/** A model call that failed, with the reason that decides what happens next. */
import { CodedError } from '../protocol/errors.js';

export type ProviderErrorKind =
  | 'auth' // wrong or missing key
  | 'quota' // out of money
  | 'rate-limited'
  | 'overloaded' // 5xx, 529
  | 'network' // no connection, cut stream, stall
  | 'context-too-long'
  | 'content-refused'
  | 'bad-request'
  | 'not-found'; // no such model

export class ProviderError extends CodedError {
  readonly kind: ProviderErrorKind;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: ProviderErrorKind,
    message: string,
    options: ErrorOptions & { status?: number; retryAfterMs?: number } = {},
  ) {
    super(`model_${kind.replaceAll('-', '_')}`, message, options);
    this.kind = kind;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

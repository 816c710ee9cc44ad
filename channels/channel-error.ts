/** Why a platform call failed: all that the dispatcher and the channel manager need to know. */
import { CodedError } from '../src/protocol/errors.js';

export type ChannelErrorKind = 'rate-limited' | 'temporary' | 'permanent';

export class ChannelError extends CodedError {
  readonly kind: ChannelErrorKind;
  /** How long the platform asked us to wait. */
  readonly retryAfterMs: number | undefined;
  /** True when the message surely did not arrive; false when it perhaps did (cut after the request was written). */
  readonly surelyNotDelivered: boolean;

  constructor(
    kind: ChannelErrorKind,
    message: string,
    options: ErrorOptions & { retryAfterMs?: number; surelyNotDelivered?: boolean } = {},
  ) {
    super(`channel_${kind.replace('-', '_')}`, message, options);
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
    this.surelyNotDelivered = options.surelyNotDelivered ?? kind !== 'temporary';
  }
}

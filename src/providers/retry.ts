/** Tries a call again that may pass by waiting. Only before the first event: what was shown is never taken back. */
import type { Logger } from '../observability/log.js';
import type { Model } from './model.js';
import { ProviderError, type ProviderErrorKind } from './provider-error.js';

export interface RetryOptions {
  /** From 0 to below 1. */
  random: () => number;
  /** Rejects when the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  log: Pick<Logger, 'info'>;
  /** Default 3, the first one included. */
  maxAttempts?: number;
}

const retried: ReadonlySet<ProviderErrorKind> = new Set(['rate-limited', 'overloaded', 'network']);
const firstWaitMs = 500;
const longestBackoffMs = 8000;
/** A platform that asks for more is left to the fallbacks, or to the person. */
const longestAskedWaitMs = 60_000;

export function withRetry(model: Model, options: RetryOptions): Model {
  const { maxAttempts = 3, sleep, log } = options;
  return {
    id: model.id,
    async *stream(request, signal) {
      for (let attempt = 1; ; attempt++) {
        let hasBegun = false;
        try {
          for await (const event of model.stream(request, signal)) {
            hasBegun = true;
            yield event;
          }
          return;
        } catch (error) {
          if (hasBegun || attempt >= maxAttempts || !(error instanceof ProviderError)) throw error;
          const waitMs = waitBefore(error, attempt, options.random);
          if (waitMs === undefined) throw error;
          log.info({ model: model.id, attempt, waitMs, code: error.code, status: error.status }, 'model call retry');
          yield { type: 'retry', attempt, waitMs, reason: error.message };
          await waitUnlessAborted(sleep, waitMs, signal);
        }
      }
    },
  };
}

/** Undefined: waiting does not help, or would take too long. */
function waitBefore(error: ProviderError, attempt: number, random: () => number): number | undefined {
  if (!retried.has(error.kind)) return undefined;
  if (error.retryAfterMs !== undefined) {
    return error.retryAfterMs <= longestAskedWaitMs ? error.retryAfterMs : undefined;
  }
  const backoffMs = Math.min(firstWaitMs * 2 ** (attempt - 1), longestBackoffMs);
  return Math.round(backoffMs * (0.5 + random()));
}

async function waitUnlessAborted(sleep: RetryOptions['sleep'], ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, signal);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
  signal.throwIfAborted();
}

/** The model behind the summaries: a few calls, each with a deadline, and none after the first that failed. */
import type { Summariser } from './summarise-turns.js';
import type { SummaryPrompt } from './summary-prompt.js';

/** Returns the model's text. Should stop when the signal aborts; whoever waits goes on without it either way. */
export type Summarise = (prompt: SummaryPrompt, signal: AbortSignal) => Promise<string>;

export interface SummariserOptions {
  summarise: Summarise;
  maxRounds: number;
  maxPromptLength: number;
  timeoutMs: number;
  /** For the log: compaction goes on without the model. */
  reportFailure?: ((error: unknown) => void) | undefined;
}

export function createSummariser(
  { summarise, maxRounds, maxPromptLength, timeoutMs, reportFailure }: SummariserOptions,
  signal: AbortSignal,
): Summariser {
  let left = maxRounds;
  return {
    maxPromptLength,
    roundsLeft: () => left,
    async ask(prompt) {
      signal.throwIfAborted();
      left -= 1;
      try {
        return await withDeadline((callSignal) => summarise(prompt, callSignal), timeoutMs, signal);
      } catch (error) {
        signal.throwIfAborted();
        left = 0;
        reportFailure?.(error);
        return undefined;
      }
    },
  };
}

/** Rejects at the deadline or when `signal` aborts, even if `work` never settles. */
async function withDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(
    () => controller.abort(new DOMException('The summary took too long.', 'TimeoutError')),
    timeoutMs,
  );
  try {
    return await new Promise<T>((resolve, reject) => {
      controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true });
      work(controller.signal).then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

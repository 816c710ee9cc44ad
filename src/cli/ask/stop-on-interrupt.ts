/** Ctrl-C stops the run and waits for its end; once more leaves at once. */

const names = ['SIGINT', 'SIGTERM'] as const;

export interface Interrupt {
  /** Aborts when nothing is waited for any more. */
  readonly signal: AbortSignal;
  readonly isStopping: boolean;
  release(): void;
}

export function stopOnInterrupt(options: { stop: () => Promise<unknown>; note: (line: string) => void }): Interrupt {
  const abort = new AbortController();
  let isStopping = false;
  const listener = () => {
    if (isStopping) {
      abort.abort();
      return;
    }
    isStopping = true;
    options.note('Stopping; once more to leave at once.');
    // Without an answer there is no end to wait for.
    options.stop().catch(() => abort.abort());
  };
  for (const name of names) process.on(name, listener);
  return {
    signal: abort.signal,
    get isStopping() {
      return isStopping;
    },
    release() {
      for (const name of names) process.off(name, listener);
    },
  };
}

/** Iteration that ends when the signal does, whether the source listens to it or not. */

/** Yields what `source` yields; throws the signal's reason on abort, even while the source hangs. */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void, void> {
  signal.throwIfAborted();
  const iterator = source[Symbol.asyncIterator]();
  let onAbort = () => {};
  const listener = () => onAbort();
  signal.addEventListener('abort', listener, { once: true });
  let isDone = false;
  try {
    while (true) {
      signal.throwIfAborted();
      const next = await new Promise<IteratorResult<T>>((resolve, reject) => {
        onAbort = () => reject(signal.reason);
        iterator.next().then(resolve, reject);
      });
      if (next.done) {
        isDone = true;
        return;
      }
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', listener);
    // Not awaited: a source that hangs must not hold the run. What it still throws concerns nobody.
    if (!isDone) void iterator.return?.().then(undefined, () => {});
  }
}

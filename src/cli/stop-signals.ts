/** SIGINT, SIGTERM and a closed terminal end the daemon in order; a second one ends it at once. */
import type { EventEmitter } from 'node:events';

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface StopSignals {
  /** Resolves with the first signal. */
  readonly first: Promise<string>;
  /** Gives the signals back to whoever had them. */
  release(): void;
}

export function listenForStop(source: EventEmitter, onSecond: (name: string) => void): StopSignals {
  let resolveFirst: (name: string) => void;
  const first = new Promise<string>((resolve) => {
    resolveFirst = resolve;
  });
  let isStopping = false;
  const listeners = names.map((name) => {
    const listener = () => {
      if (isStopping) return onSecond(name);
      isStopping = true;
      resolveFirst(name);
    };
    source.on(name, listener);
    return [name, listener] as const;
  });
  return {
    first,
    release() {
      for (const [name, listener] of listeners) source.off(name, listener);
    },
  };
}

/** Work in small slices beside everything else: one slice at a time, with room for the event loop between two. */
import type { Logger } from '../observability/log.js';
import type { Timers } from './timers.js';

export interface Background {
  /** There may be work. Cheap; call it as often as you like. */
  wake(): void;
  /** Resolves when a slice has found nothing more to do, or failed. Cuts `delayMs` short. */
  settled(): Promise<void>;
  /** Lets the running slice end. */
  close(): Promise<void>;
}

export interface BackgroundOptions {
  /** Does at most some milliseconds of work. True: call again. It must look at `isClosed` after every wait. */
  slice(isClosed: () => boolean): Promise<boolean>;
  timers: Timers;
  log: Logger;
  /** Before the first slice, so that several wakes make one run. */
  delayMs?: number;
  /** Between slices. */
  pauseMs?: number;
}

export function createBackground({ slice, timers, log, delayMs = 0, pauseMs = 1 }: BackgroundOptions): Background {
  let running: Promise<void> | undefined;
  let isWoken = false;
  let isClosed = false;
  let cutShort = () => {};

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const cancel = timers.after(ms, resolve);
      cutShort = () => {
        cancel();
        resolve();
      };
    });

  async function work(): Promise<void> {
    await pause(delayMs);
    while (!isClosed) {
      isWoken = false;
      const hasMore = await slice(() => isClosed);
      if (!hasMore && !isWoken) return;
      await pause(pauseMs);
    }
  }

  function wake(): void {
    isWoken = true;
    if (running || isClosed) return;
    running = work()
      .catch((error: unknown) => log.error({ err: error }, 'background work failed'))
      .finally(() => {
        running = undefined;
        // Woken after the last look at `isWoken`.
        if (isWoken) wake();
      });
  }

  return {
    wake,
    async settled() {
      while (running) {
        cutShort();
        await running;
      }
    },
    async close() {
      isClosed = true;
      cutShort();
      await running;
    },
  };
}

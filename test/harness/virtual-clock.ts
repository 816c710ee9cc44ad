/**
 * A clock that leaps: whoever sleeps is woken as soon as nothing else moves, in the order of their times. For tests with
 * pauses of seconds or hours that end at once. `sleepers` lets a test see who waits for how long.
 */
export interface VirtualClock {
  now: () => number;
  /** Settles after `ms` of this clock, or at once when the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Every pause that was asked for, in ms. */
  readonly slept: number[];
  /** Stops leaping: sleepers wait for `advance`. */
  hold(): void;
  /** Moves the clock by hand and wakes who is due. */
  advance(ms: number): void;
}

/** Real work (loopback sockets, the database) between two leaps gets this many turns of the event loop to show. */
const idleTurns = 20;

export function virtualClock(startMs = Date.UTC(2026, 0, 5, 9)): VirtualClock {
  let time = startMs;
  let isHeld = false;
  let isLeaping = false;
  const sleepers = new Set<{ at: number; wake: () => void }>();
  const slept: number[] = [];

  const wakeDue = () => {
    for (const sleeper of [...sleepers].filter(({ at }) => at <= time).sort((a, b) => a.at - b.at)) sleeper.wake();
  };
  const leap = (turnsLeft: number) => {
    if (isHeld || sleepers.size === 0) {
      isLeaping = false;
      return;
    }
    if (turnsLeft > 0) {
      setImmediate(leap, turnsLeft - 1);
      return;
    }
    time = Math.max(time, Math.min(...[...sleepers].map(({ at }) => at)));
    wakeDue();
    setImmediate(leap, idleTurns);
  };

  return {
    now: () => time,
    slept,
    sleep(ms, signal) {
      slept.push(ms);
      if (signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const sleeper = {
          at: time + ms,
          wake() {
            sleepers.delete(sleeper);
            signal.removeEventListener('abort', sleeper.wake);
            resolve();
          },
        };
        signal.addEventListener('abort', sleeper.wake, { once: true });
        sleepers.add(sleeper);
        if (!isLeaping && !isHeld) {
          isLeaping = true;
          setImmediate(leap, idleTurns);
        }
      });
    },
    hold() {
      isHeld = true;
    },
    advance(ms) {
      time += ms;
      wakeDue();
    },
  };
}

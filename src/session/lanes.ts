/**
 * One lane per chat, many lanes side by side: keeps order within a lane and bounds how many work at once.
 * The bound on what waits in a lane is the inbound queue's.
 */
export interface LaneWork<Item> {
  /** What waits, oldest first; the handler takes items off the front. */
  waiting: Item[];
  signal: AbortSignal;
}

export interface Lanes<Item> {
  push(lane: string, item: Item): void;
  /** What waits in the lane, not what is being handled. */
  waiting(lane: string): readonly Item[];
  /** Takes everything that waits. */
  clear(lane: string): Item[];
  /** Aborts what the lane works on. False when it is idle. */
  abort(lane: string, reason: unknown): boolean;
  busyCount(): number;
  /** Everything that waits, in every lane. */
  remaining(): Item[];
  /** Starts no more work; resolves when nothing is going on. */
  drain(): Promise<void>;
  abortAll(reason: unknown): void;
}

/**
 * `handle` takes at least one item per call, or throws. What it throws is reported, and the lane rests
 * for `pause` before it tries again what is left.
 */
export function createLanes<Item>(options: {
  concurrency: number;
  handle: (lane: string, work: LaneWork<Item>) => Promise<void>;
  onError: (lane: string, error: unknown) => void;
  /** Waits longer the more failures in a row; settles at once when the signal aborts. */
  pause: (failures: number, signal: AbortSignal) => Promise<void>;
}): Lanes<Item> {
  interface Lane {
    waiting: Item[];
    abort: AbortController | undefined;
    failures: number;
    isReady: boolean;
  }
  const lanes = new Map<string, Lane>();
  const ready: string[] = [];
  const stopPauses = new AbortController();
  let busy = 0;
  let isDraining = false;
  let whenIdle: (() => void)[] = [];

  const makeReady = (name: string, lane: Lane) => {
    if (lane.isReady || lane.abort || lane.waiting.length === 0) return;
    lane.isReady = true;
    ready.push(name);
    startMore();
  };

  const startMore = () => {
    while (!isDraining && busy < options.concurrency) {
      const name = ready.shift();
      if (name === undefined) return;
      const lane = lanes.get(name);
      if (!lane) continue;
      lane.isReady = false;
      if (lane.waiting.length > 0) void work(name, lane);
    }
  };

  const work = async (name: string, lane: Lane) => {
    busy += 1;
    lane.abort = new AbortController();
    try {
      await options.handle(name, { waiting: lane.waiting, signal: lane.abort.signal });
      lane.failures = 0;
    } catch (error) {
      lane.failures += 1;
      options.onError(name, error);
    }
    busy -= 1;
    if (lane.failures > 0 && !isDraining) {
      await options.pause(lane.failures, stopPauses.signal);
    }
    lane.abort = undefined;
    if (lane.waiting.length > 0) makeReady(name, lane);
    else lanes.delete(name);
    startMore();
    if (busy === 0) for (const resolve of whenIdle.splice(0)) resolve();
  };

  return {
    push(name, item) {
      let lane = lanes.get(name);
      if (!lane) {
        lane = { waiting: [], abort: undefined, failures: 0, isReady: false };
        lanes.set(name, lane);
      }
      lane.waiting.push(item);
      makeReady(name, lane);
    },
    waiting: (name) => lanes.get(name)?.waiting ?? [],
    clear: (name) => lanes.get(name)?.waiting.splice(0) ?? [],
    abort(name, reason) {
      const lane = lanes.get(name);
      if (!lane?.abort) return false;
      lane.abort.abort(reason);
      return true;
    },
    busyCount: () => busy,
    remaining: () => [...lanes.values()].flatMap((lane) => lane.waiting),
    drain() {
      isDraining = true;
      stopPauses.abort();
      if (busy === 0) return Promise.resolve();
      return new Promise((resolve) => {
        whenIdle = [...whenIdle, resolve];
      });
    },
    abortAll(reason) {
      for (const lane of lanes.values()) lane.abort?.abort(reason);
    },
  };
}

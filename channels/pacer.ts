/** Keeps calls within what a platform allows, per chat and for the whole account, and holds them back when it asks to wait. */

/** `calls` in any `perMs`. */
export interface RateLimit {
  calls: number;
  perMs: number;
}

export interface Pacer {
  /** Waits, first come first served within a chat, until a call may leave. Throws the signal's reason when it aborts. */
  take(chatId: string, signal: AbortSignal): Promise<void>;
  /** For what may be left out: true, and counted, when a call may leave now. */
  tryTake(chatId: string): boolean;
  /** The platform asked to wait; without a chat it meant the whole account. */
  pause(chatId: string | undefined, ms: number): void;
}

interface Lane {
  /** When the latest calls left or will leave, oldest first; as many as its longest limit counts. */
  times: number[];
  pausedUntil: number;
}

/** Quiet chats are forgotten beyond this many. */
const maxChats = 2000;

export function createPacer(options: {
  account: readonly RateLimit[];
  chat: (chatId: string) => readonly RateLimit[];
  now: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}): Pacer {
  const { now } = options;
  const account: Lane = { times: [], pausedUntil: 0 };
  const chats = new Map<string, Lane>();

  const laneOf = (chatId: string): Lane => {
    const lane = chats.get(chatId) ?? { times: [], pausedUntil: 0 };
    chats.delete(chatId);
    chats.set(chatId, lane);
    if (chats.size > maxChats) {
      const [oldest, quiet] = chats.entries().next().value!;
      if (Math.max(quiet.times.at(-1) ?? 0, quiet.pausedUntil) + 60_000 < now()) chats.delete(oldest);
    }
    return lane;
  };
  const waitUntil = async (at: () => number, signal: AbortSignal) => {
    for (let wait = at() - now(); wait > 0; wait = at() - now()) {
      await options.sleep(wait, signal);
      signal.throwIfAborted();
    }
  };
  const pausedUntil = (lane: Lane) => Math.max(lane.pausedUntil, account.pausedUntil);

  return {
    async take(chatId, signal) {
      const lane = laneOf(chatId);
      const slot = reserve(lane, options.chat(chatId), now());
      await waitUntil(() => Math.max(slot, pausedUntil(lane)), signal);
      const accountSlot = reserve(account, options.account, now());
      await waitUntil(() => Math.max(accountSlot, pausedUntil(lane)), signal);
    },
    tryTake(chatId) {
      const lane = laneOf(chatId);
      const limits = options.chat(chatId);
      const at = Math.max(earliest(lane, limits), earliest(account, options.account), pausedUntil(lane));
      if (at > now()) return false;
      reserve(lane, limits, now());
      reserve(account, options.account, now());
      return true;
    },
    pause(chatId, ms) {
      const lane = chatId === undefined ? account : laneOf(chatId);
      lane.pausedUntil = Math.max(lane.pausedUntil, now() + ms);
    },
  };
}

function earliest({ times }: Lane, limits: readonly RateLimit[]): number {
  return Math.max(0, ...limits.map(({ calls, perMs }) => (times.at(-calls) ?? Number.NEGATIVE_INFINITY) + perMs));
}

function reserve(lane: Lane, limits: readonly RateLimit[], now: number): number {
  const at = Math.max(now, lane.times.at(-1) ?? 0, earliest(lane, limits));
  lane.times.push(at);
  const kept = Math.max(1, ...limits.map(({ calls }) => calls));
  if (lane.times.length > kept) lane.times.splice(0, lane.times.length - kept);
  return at;
}

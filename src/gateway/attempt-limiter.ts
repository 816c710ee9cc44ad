/** Counts wrong tokens per address. After too many in a window the address is shut out for a while. */
export interface AttemptLimiter {
  /** How long the address is still shut out, in ms; 0 when it may try. */
  blockedForMs(address: string): number;
  /** `repeatOf`: a wrong token that is presented again and again is counted once (a browser with an old cookie). */
  addFailure(address: string, repeatOf?: string): void;
}

const maxFailures = 10;
const windowMs = 60_000;
const blockMs = 60_000;
/** Addresses remembered at once; the oldest are forgotten first. */
const maxAddresses = 1000;

interface Entry {
  failures: number;
  windowEndsAt: number;
  blockedUntil: number;
  lastRepeat?: string;
}

export function createAttemptLimiter(now: () => number): AttemptLimiter {
  const entries = new Map<string, Entry>();

  const entryOf = (address: string): Entry => {
    const key = networkOf(address);
    const known = entries.get(key);
    if (known && now() < Math.max(known.windowEndsAt, known.blockedUntil)) return known;
    entries.delete(key);
    if (entries.size >= maxAddresses) entries.delete(entries.keys().next().value!);
    const entry: Entry = { failures: 0, windowEndsAt: now() + windowMs, blockedUntil: 0 };
    entries.set(key, entry);
    return entry;
  };

  return {
    blockedForMs: (address) => Math.max(0, (entries.get(networkOf(address))?.blockedUntil ?? 0) - now()),
    addFailure(address, repeatOf) {
      const entry = entryOf(address);
      if (repeatOf !== undefined && entry.lastRepeat === repeatOf) return;
      if (repeatOf !== undefined) entry.lastRepeat = repeatOf;
      entry.failures += 1;
      if (entry.failures >= maxFailures) entry.blockedUntil = now() + blockMs;
    },
  };
}

/** An IPv6 host has a whole /64 to itself, so that is what is counted. */
function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail = ''] = address.split('::');
  const first = head.split(':').filter(Boolean);
  const last = tail.split(':').filter(Boolean);
  const groups = address.includes('::')
    ? [...first, ...Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0'), ...last]
    : first;
  return groups.slice(0, 4).join(':');
}

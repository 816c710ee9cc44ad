/** How long the platform asked us to wait. */

/** In milliseconds, from `retry-after-ms` or `retry-after` (seconds or an HTTP date); undefined when it did not say. */
export function parseRetryAfter(headers: { get(name: string): string | null }, now: number): number | undefined {
  const milliseconds = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return milliseconds;
  const value = headers.get('retry-after')?.trim();
  if (!value) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

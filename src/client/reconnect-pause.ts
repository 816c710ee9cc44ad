/** How long to wait before the next attempt to connect. */

const firstPauseMs = 500;
const longestPauseMs = 30_000;

/** Doubles with every failed attempt (0 for the first), up to 30 s; `random` (0–1) takes off up to a quarter, so that clients spread. */
export function reconnectPauseMs(failedAttempts: number, random: number): number {
  const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failedAttempts, 10));
  return Math.round(pauseMs * (1 - random / 4));
}

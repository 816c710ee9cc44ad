/** A moment in the time zone of this machine: `2026-11-30 14:05`. */
export function timeText(at: number): string {
  // Swedish dates are ISO dates.
  return new Date(at).toLocaleString('sv').slice(0, 16);
}

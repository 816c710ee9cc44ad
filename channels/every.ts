/** A repeating timer that tests can turn by hand. Returns what stops it. */
export type Every = (intervalMs: number, action: () => void) => () => void;

/** The real one; it keeps no process alive. */
export const every: Every = (intervalMs, action) => {
  const timer = setInterval(action, intervalMs).unref();
  return () => clearInterval(timer);
};

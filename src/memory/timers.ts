/** The clock's hands, so that tests need not wait. */
export interface Timers {
  /** Must not keep the process alive. Returns the cancel. */
  after(ms: number, work: () => void): () => void;
}

export const realTimers: Timers = {
  after(ms, work) {
    const timer = setTimeout(work, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/**
 * Cuts Chinese runs into words, in a child process: the dictionary takes up to 254 MB and a second to load, and only the
 * end of a process gives that memory back (a worker thread's end does not). Loaded at the first need, ended when idle.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Config } from '../config/schema.js';
import type { Logger } from '../observability/log.js';
import { type Engine, findEngines } from './segmenter-engines.js';
import { type FromSegmenter, segmenterSource } from './segmenter-program.js';
import { realTimers, type Timers } from './timers.js';

export interface Cut {
  /** The words of each run, overlapping where a word holds shorter ones. */
  words: string[][];
  /** What they were cut with. */
  engine: string;
}

export interface Segmenter {
  /** The engine that `cut` uses, or is going to: name and version. Undefined when none works here. */
  engine(): string | undefined;
  /**
   * Never rejects. Undefined: not now (not loaded yet and `wait` is false, the queue is full, the engine failed);
   * then pairs of characters have to do. Without `wait` it starts the loading all the same.
   */
  cut(runs: readonly string[], options: { wait: boolean }): Promise<Cut | undefined>;
  state(): { isLoaded: boolean; pid: number | undefined; waiting: number; crashes: number };
  /** Ends the child; later calls answer undefined. */
  close(): Promise<void>;
}

export interface SegmenterOptions {
  choice: Config['memory']['segmenter'];
  log: Logger;
  /** Default five minutes. */
  idleMs?: number;
  timers?: Timers;
  /** Only tests give others. */
  engines?: readonly Engine[];
}

interface Request {
  runs: readonly string[];
  attempts: number;
  resolve(cut: Cut | undefined): void;
}

const maxWaiting = 500;
const maxWaitingCharacters = 2_000_000;
const loadTimeoutMs = 30_000;
const answerTimeoutMs = 10_000;
/** Ended this often in a row, the engine is left alone for as long as it may be idle. */
const maxCrashesInARow = 4;

export function createSegmenter({
  choice,
  log,
  idleMs = 300_000,
  timers = realTimers,
  ...rest
}: SegmenterOptions): Segmenter {
  const engines = [...(rest.engines ?? findEngines(choice))];
  const requests = new Map<number, Request>();
  let child: ChildProcess | undefined;
  let isLoaded = false;
  let isResting = false;
  let isClosed = false;
  let nextId = 1;
  let waitingCharacters = 0;
  let crashes = 0;
  let crashesInARow = 0;
  let cancelTimer = () => {};

  const setTimer = (ms: number, work: () => void) => {
    cancelTimer();
    cancelTimer = timers.after(ms, work);
  };

  function start(): void {
    const engine = engines[0];
    if (child || isClosed || isResting || !engine) return;
    const started = spawn(process.execPath, ['-e', segmenterSource(engine)], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // The child needs no environment, and no secret from it.
      env: {},
    });
    child = started;
    started.unref();
    hold();
    started.on('message', (message: FromSegmenter) => child === started && receive(started, engine, message));
    started.on('exit', () => child === started && ended(engine));
    started.on('error', (error) => {
      log.warn({ err: error }, 'segmenter process failed');
      if (child === started && started.pid === undefined) ended(engine);
    });
    setTimer(loadTimeoutMs, () => started.kill('SIGKILL'));
  }

  function receive(from: ChildProcess, engine: Engine, message: FromSegmenter): void {
    if ('failed' in message) {
      log.warn({ engine: engine.label, reason: message.failed }, 'segmenter cannot be loaded');
      give(engine);
    } else if ('ready' in message) {
      isLoaded = true;
      watch();
      for (const [id, request] of requests) send(from, id, request);
    } else {
      crashesInARow = 0;
      settle(message.id, { words: message.words, engine: engine.label });
      watch();
    }
  }

  /** The process may end while the child is idle, not while somebody waits for it. */
  function hold(): void {
    if (requests.size > 0) child?.channel?.ref();
    else child?.channel?.unref();
  }

  /** While answers are due, their deadline; then the idle time. */
  function watch(): void {
    if (requests.size > 0) setTimer(answerTimeoutMs, () => child?.kill('SIGKILL'));
    else setTimer(idleMs, release);
  }

  function release(): void {
    cancelTimer();
    const old = child;
    child = undefined;
    isLoaded = false;
    if (old?.connected) old.disconnect();
  }

  function ended(engine: Engine): void {
    const wasLoaded = isLoaded;
    release();
    if (isClosed) return;
    crashes += 1;
    crashesInARow += 1;
    log.warn({ engine: engine.label, crashes }, 'segmenter process ended by itself');
    if (!wasLoaded && crashesInARow > 1) {
      give(engine);
      return;
    }
    // A text that was there at two ends is not tried a third time.
    for (const [id, request] of requests) if (request.attempts > 1) settle(id, undefined);
    if (crashesInARow >= maxCrashesInARow) takeRest();
    else if (requests.size > 0) start();
  }

  /** This engine does not work here: the next one. */
  function give(engine: Engine): void {
    release();
    if (engines[0] === engine) engines.shift();
    crashesInARow = 0;
    if (engines.length === 0) settleAll();
    else if (requests.size > 0) start();
  }

  function takeRest(): void {
    isResting = true;
    settleAll();
    setTimer(idleMs, () => {
      isResting = false;
      crashesInARow = 0;
    });
  }

  function send(to: ChildProcess, id: number, request: Request): void {
    request.attempts += 1;
    // A failed send means that the child is ending; `exit` follows.
    to.send({ id, runs: request.runs }, () => {});
  }

  function settle(id: number, cut: Cut | undefined): void {
    const request = requests.get(id);
    if (!request) return;
    requests.delete(id);
    waitingCharacters -= lengthOf(request.runs);
    hold();
    request.resolve(cut);
  }

  function settleAll(): void {
    for (const id of requests.keys()) settle(id, undefined);
  }

  return {
    engine: () => engines[0]?.label,
    cut(runs, { wait }) {
      const engine = engines[0];
      if (!engine || isClosed || isResting) return Promise.resolve(undefined);
      if (runs.length === 0) return Promise.resolve({ words: [], engine: engine.label });
      start();
      const length = lengthOf(runs);
      const isFull = requests.size >= maxWaiting || waitingCharacters + length > maxWaitingCharacters;
      if (isFull || (!isLoaded && !wait)) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        const request = { runs, attempts: 0, resolve };
        const id = nextId++;
        requests.set(id, request);
        waitingCharacters += length;
        hold();
        if (!isLoaded || !child) return;
        send(child, id, request);
        if (requests.size === 1) watch();
      });
    },
    state: () => ({ isLoaded, pid: child?.pid, waiting: requests.size, crashes }),
    async close() {
      isClosed = true;
      const old = child;
      const isOver = !old || old.exitCode !== null || old.signalCode !== null || old.pid === undefined;
      const over = isOver ? undefined : new Promise<void>((resolve) => old.once('exit', () => resolve()));
      // A child that is still reading its dictionary hears the disconnect only afterwards.
      old?.kill('SIGKILL');
      release();
      settleAll();
      await over;
    },
  };
}

function lengthOf(runs: readonly string[]): number {
  return runs.reduce((length, run) => length + run.length, 0);
}

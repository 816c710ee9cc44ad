/**
 * Owns sessions and their life cycle: takes messages off the bus, finds their dialog, runs turns in lanes,
 * recovers what an earlier process left. It never calls a model itself.
 */
import type { QueuedMessage } from '../bus/inbound-queue.js';
import type { ControlChannel } from '../protocol/control.js';
import { describeError } from '../protocol/errors.js';
import { chatScope, type SessionId, scopeOf, sessionId } from '../protocol/ids.js';
import type { InboundMessage } from '../protocol/messages.js';
import { createCommandRunner } from './command-runner.js';
import { createControl } from './control.js';
import { createLanes, type LaneWork } from './lanes.js';
import { type LiveSession, loadSession, SessionCache } from './live-session.js';
import { memberScope, type SessionRow } from './session-store.js';
import { recordShortRun } from './short-run.js';
import { resumeTurn, runTurn, ShutdownReason, type TurnParts } from './turn.js';

export interface SessionManager {
  readonly control: ControlChannel;
  /** Takes up what is open in the queue, then listens. */
  start(): void;
  /** Takes no new work; running turns get `deadlineMs` to end, then stay in the queue for the next start. */
  stop(deadlineMs: number): Promise<void>;
  counts(): { waiting: number; running: number };
}

/** Loaded dialogs kept for the next message; an evicted one is read again from storage. */
const maxLoadedSessions = 200;
/** A chat that never falls quiet gets its turn after this many windows. */
const maxCollectRounds = 5;

export function createSessionManager(parts: TurnParts): SessionManager {
  const { bus, sessions, config, log } = parts;
  const cache = new SessionCache(maxLoadedSessions);
  /** The lane whose turn works on a session, so that `stop` finds it. */
  const laneOfTurn = new Map<SessionId, string>();
  /** Who works on a session: two lanes (the chat's, a named dialog's) may lead to one. */
  const holders = new Map<SessionId, { whenFree: Promise<void>; free: () => void }>();

  const lanes = createLanes<QueuedMessage>({
    concurrency: config.sessions.concurrency,
    handle: handleLane,
    onError: (lane, error) => log.error({ err: error, lane }, 'turn could not be stored; it stays in the queue'),
    pause: (failures, signal) => parts.sleep(Math.min(60_000, 1000 * 2 ** failures), signal),
  });
  const live = (row: SessionRow): LiveSession => {
    const known = cache.get(row.id);
    if (known) return known;
    const session = loadSession(row, parts.transcript);
    cache.add(session);
    return session;
  };
  const control = createControl(parts, {
    live,
    isTurnRunning: (row) => laneOfTurn.has(row.id),
    loaded: (id) => cache.get(id),
    forget: (id) => cache.remove(id),
    isBusy: (row) => laneOfTurn.has(row.id) || lanes.waiting(row.id).length > 0 || currentLaneWaiting(row).length > 0,
    waiting: (row) => [...lanes.waiting(row.id), ...currentLaneWaiting(row)],
    async stop(row) {
      const lane = laneOfTurn.get(row.id);
      const dropped = [...lanes.clear(row.id), ...clearCurrentLane(row)];
      for (const queued of dropped) endWithout(queued, row);
      if (lane === undefined) return { stopped: false, cleared: dropped.length };
      const holder = holders.get(row.id);
      lanes.abort(lane, new DOMException('stopped by the user', 'AbortError'));
      await holder?.whenFree;
      return { stopped: true, cleared: dropped.length };
    },
  });
  const commandRunner = createCommandRunner(parts, control);

  async function handleLane(lane: string, work: LaneWork<QueuedMessage>): Promise<void> {
    await collectWindow(work);
    const first = work.waiting[0];
    if (!first) return;
    const resumed = first.runId === undefined ? undefined : openRunOf(first.runId);
    const row = resumed ?? rowFor(first.message);
    const session = await acquire(row);
    const batch = work.waiting.splice(0, batchSize(work.waiting));
    try {
      if (!resumed && (await commandRunner.run(session, row, first))) return;
      laneOfTurn.set(row.id, lane);
      await (resumed ? resumeTurn : runTurn)(parts, session, batch, () => takeMore(work.waiting, batch), work.signal);
    } catch (error) {
      work.waiting.unshift(...batch);
      cache.remove(session.id);
      if (error instanceof ShutdownReason) return;
      tellFollowers(session, batch, error);
      throw error;
    } finally {
      release(session);
    }
  }

  /** How many from the front make one turn: those of an unfinished run, or, with `collect`, all plain messages up to the first that must stand alone. */
  function batchSize(waiting: readonly QueuedMessage[]): number {
    const first = waiting[0]!;
    const belongs = (queued: QueuedMessage) =>
      first.runId !== undefined
        ? queued.runId === first.runId
        : config.sessions.whileBusy === 'collect' &&
          canMerge(queued) &&
          canMerge(first) &&
          scopeFor(queued.message) === scopeFor(first.message);
    let size = 1;
    while (size < waiting.length && belongs(waiting[size]!)) size += 1;
    return size;
  }

  /**
   * With `steer`: what waits at the front of a platform chat goes to the turn that is running. A door that follows
   * each message by itself (page, programs) gets a turn for each instead.
   */
  function takeMore(waiting: QueuedMessage[], batch: readonly QueuedMessage[]): QueuedMessage[] {
    if (config.sessions.whileBusy !== 'steer') return [];
    const scope = scopeFor(batch[0]!.message);
    const isTaken = (queued: QueuedMessage) =>
      queued.message.dialogId === undefined && canMerge(queued) && scopeFor(queued.message) === scope;
    const count = waiting.findIndex((queued) => !isTaken(queued));
    return waiting.splice(0, count === -1 ? waiting.length : count);
  }

  /** Waits until a platform chat is quiet, so that what a person types in pieces becomes one turn. */
  async function collectWindow({ waiting, signal }: LaneWork<QueuedMessage>): Promise<void> {
    const { whileBusy, collectWindowMs } = config.sessions;
    const first = waiting[0]!;
    if (whileBusy !== 'collect' || collectWindowMs === 0 || first.message.dialogId !== undefined || !canMerge(first))
      return;
    for (let round = 0; round < maxCollectRounds; round += 1) {
      const before = waiting.length;
      await parts.sleep(collectWindowMs, signal);
      if (signal.aborted || waiting.length === before) return;
    }
  }

  function canMerge(queued: QueuedMessage): boolean {
    return queued.runId === undefined && !queued.message.expectsOwnAnswer && !commandRunner.isCommand(queued.message);
  }

  function openRunOf(runId: string): SessionRow | undefined {
    const run = parts.runs.find(runId);
    return run && run.endedAt === null ? sessions.findByKey(run.sessionKey) : undefined;
  }

  /** P09: the dialog that the message names, else the current one, else the most recent one, else a new one. */
  function rowFor(message: InboundMessage): SessionRow {
    const { channel, chatId } = message;
    if (message.dialogId !== undefined) {
      const address = { channel, chatId, dialogId: message.dialogId };
      const known = sessions.find(sessionId(address));
      if (!known) return sessions.create(address, parts.defaultTitle, 'default');
      if (known.deletedAt === null) return known;
      // The name is free again; what was deleted keeps its messages under another one.
      sessions.displace(known);
      return sessions.create(address, parts.defaultTitle, 'default');
    }
    const scope = scopeFor(message);
    const found = sessions.resolve(scope);
    if (!found) {
      return sessions.create({ channel, chatId, dialogId: parts.newId('d') }, parts.defaultTitle, 'default', scope);
    }
    if (sessions.currentOf(found.scope) !== found.id) sessions.setCurrent(found);
    return found;
  }

  /** Whose current dialog an unnamed message goes to: the chat's, or in groups with `per-user` the sender's own. */
  function scopeFor(message: InboundMessage): string {
    const scope = chatScope(message);
    const isOwn = message.chatType === 'group' && config.sessions.groupDialogs === 'per-user';
    return isOwn ? memberScope(scope, message.sender.id) : scope;
  }

  function isTurnRunning(lane: string): boolean {
    return [...laneOfTurn.values()].includes(lane);
  }

  /** Waits until no other lane works on the session. */
  async function acquire(row: SessionRow): Promise<LiveSession> {
    for (let holder = holders.get(row.id); holder; holder = holders.get(row.id)) await holder.whenFree;
    const session = live(row);
    session.isBusy = true;
    let free = () => {};
    const whenFree = new Promise<void>((resolve) => {
      free = resolve;
    });
    holders.set(row.id, { whenFree, free });
    return session;
  }

  function release(session: LiveSession): void {
    session.isBusy = false;
    laneOfTurn.delete(session.id);
    holders.get(session.id)?.free();
    holders.delete(session.id);
  }

  /** Messages in the chat's own lane belong to the dialog that is current there. */
  function currentLane(row: SessionRow): string | undefined {
    return sessions.currentOf(row.scope) === row.id ? scopeOf(row.id) : undefined;
  }
  function currentLaneWaiting(row: SessionRow): readonly QueuedMessage[] {
    const lane = currentLane(row);
    return lane === undefined ? [] : lanes.waiting(lane);
  }
  function clearCurrentLane(row: SessionRow): QueuedMessage[] {
    const lane = currentLane(row);
    return lane === undefined ? [] : lanes.clear(lane);
  }

  /** Ends a message that was dropped before its turn: it is done, and whoever waits for it is told. */
  function endWithout(queued: QueuedMessage, row: SessionRow): void {
    recordShortRun(parts, live(row), queued, { model: 'none', between: [], stopReason: 'cancelled', text: '' });
  }

  /** A turn that could not be stored: followers get an end that says so; the message stays in the queue. */
  function tellFollowers(session: LiveSession, batch: QueuedMessage[], error: unknown): void {
    const run = { runId: batch[0]!.runId ?? parts.newId('run'), turn: session.turnCount };
    const messageIds = batch.map((queued) => queued.message.messageId);
    const { code, message } = describeError(error);
    parts.hub.publish(session.stamp({ type: 'run-start', model: 'none', messageIds, attempt: 1 }, run, parts.now()));
    parts.hub.publish(
      session.stamp(
        { type: 'run-end', stopReason: 'model_error', text: '', usage: {}, error: { code, message } },
        run,
        parts.now(),
      ),
    );
  }

  return {
    control,
    start() {
      for (const queued of bus.inbound.open()) lanes.push(queued.lane, queued);
      bus.inbound.onMessage((queued) => {
        if (commandRunner.isImmediate(queued.message)) {
          void runImmediate(queued);
          return;
        }
        lanes.push(queued.lane, queued);
        if (config.sessions.whileBusy === 'interrupt' && canMerge(queued) && isTurnRunning(queued.lane)) {
          lanes.abort(queued.lane, new DOMException('a newer message came', 'AbortError'));
        }
      });
    },
    async stop(deadlineMs) {
      const idle = lanes.drain();
      const timer = setTimeout(() => lanes.abortAll(new ShutdownReason()), deadlineMs);
      await idle;
      clearTimeout(timer);
      await parts.titler.stop();
      for (const queued of lanes.remaining())
        tellFollowers(live(rowFor(queued.message)), [queued], new ShutdownReason());
    },
    counts: () => ({ waiting: bus.inbound.waitingCount(), running: lanes.busyCount() }),
  };

  async function runImmediate(queued: QueuedMessage): Promise<void> {
    try {
      const row = rowFor(queued.message);
      await commandRunner.run(live(row), row, queued);
    } catch (error) {
      log.error({ err: error }, 'command could not be stored; it stays in the queue');
      lanes.push(queued.lane, queued);
    }
  }
}

/** A connection that follows a dialog: what it missed, then a `sync`, then everything that happens there, whoever started it. */
import type { Logger } from '../../src/observability/log.js';
import type { ControlChannel, VisibleMessage } from '../../src/protocol/control.js';
import type { AgentEvent, EventType } from '../../src/protocol/events.js';
import type { SessionId } from '../../src/protocol/ids.js';
import { ifDialogExists } from '../dialog-reference.js';
import { EventCursor } from '../event-cursor.js';
import type { ActiveRun, RunWatch } from '../run-watch.js';
import { type FrameEncoder, frameText, stampText } from './encode.js';
import type { Outlet } from './outlet.js';
import { createToolInputs } from './tool-inputs.js';

export interface SubscriptionOptions {
  sessionId: SessionId;
  /** As the client named the dialog. */
  name: string;
  /** Id of the last event that the client has. */
  lastEventId: number | undefined;
  /** Runs whose frames the connection gets already, as the answers to its own messages. */
  ownRuns: Iterable<string>;
  control: ControlChannel;
  watch: RunWatch;
  encode: FrameEncoder;
  outlet: Outlet;
  log: Logger;
}

export interface Subscription {
  /** The connection gets this run's frames already. */
  passOver(runId: string): void;
  /** Tells the client what waits in the dialog's queue, if that has changed. */
  checkQueue(): void;
  resume(): void;
  close(): void;
}

/** Events that never are a message of the visible conversation. */
const invisible: ReadonlySet<EventType> = new Set<EventType>([
  'run-start',
  'text-delta',
  'reasoning-delta',
  'tool-call',
  'tool-result',
  'usage',
  'prompt-snapshot',
  'model-retry',
  'model-fallback',
]);

export function subscribe(options: SubscriptionOptions): Subscription {
  const { sessionId, name, control, watch, encode, outlet } = options;
  const inputs = createToolInputs(control, watch);
  const ownRuns = new Set(options.ownRuns);
  const stamps = new Map<string, string>();
  let isSynced = false;
  let newestAtSync = 0;
  let lastQueue = '[]';

  const read = (after: number, limit?: number) => ifDialogExists(() => control.events(sessionId, after, limit), []);
  const readMessages = () => ifDialogExists(() => control.messages(sessionId), []);

  const newestId = (): number => {
    let newest = readMessages().at(-1)?.id ?? 0;
    for (let page = read(newest); page.length > 0; page = read(newest)) newest = page.at(-1)!.id;
    return newest;
  };

  const sendSync = (lastEventId: number) => {
    isSynced = true;
    outlet.send({ type: 'sync', sessionId: name, content: { messages: readMessages(), lastEventId } });
    checkQueue();
  };

  const checkQueue = () => {
    if (!isSynced) return;
    const content = ifDialogExists(() => control.queued(sessionId), []);
    const text = JSON.stringify(content);
    if (text === lastQueue) return;
    lastQueue = text;
    outlet.send({ type: 'context', sessionId: name, content });
  };

  const write = (event: AgentEvent) => {
    const { runId } = event;
    if (!ownRuns.has(runId)) {
      inputs.see(event);
      for (const part of encode(event, inputs.find)) outlet.sendText(frameText(part, stampOf(event), event.id));
    }
    if (event.type === 'run-end') {
      ownRuns.delete(runId);
      stamps.delete(runId);
    }
    if (!isSynced || event.id <= newestAtSync) return;
    if (!invisible.has(event.type)) sendHistory(event);
    if (event.type !== 'text-delta' && event.type !== 'reasoning-delta') checkQueue();
  };

  const sendHistory = (event: AgentEvent) => {
    const message = control.messages(sessionId, { before: event.id + 1, limit: 1 })[0];
    if (message?.id === event.id) outlet.send({ type: 'history/add', sessionId: name, content: [message] });
  };

  /** The message that a run answers: the first one, when it answers several. */
  const stampOf = (event: AgentEvent): string => {
    const { runId } = event;
    let stamp = stamps.get(runId);
    if (stamp === undefined) {
      const messageId =
        (event.type === 'run-start' ? event.messageIds[0] : watch.activeRun(runId)?.messageIds[0]) ??
        readMessages().find((message) => message.runId === runId && message.messageId !== undefined)?.messageId ??
        runId;
      stamp = stampText(name, messageId, runId);
      stamps.set(runId, stamp);
    }
    return stamp;
  };

  const newest = newestId();
  const { lastEventId } = options;
  // An id that this dialog never gave out (of another database, of events lost in a crash): begin anew.
  const isResume = lastEventId !== undefined && lastEventId <= newest;
  const active = watch.activeRuns(sessionId);
  const activeIds = new Set(active.map((run) => run.runId));
  newestAtSync = newest;

  const cursor = new EventCursor({
    after: isResume ? lastEventId : Math.min(newest, ...unstoredFrom(active, readMessages())),
    read,
    accepts: (event) => isResume || event.id > newest || activeIds.has(event.runId),
    pausesLive: false,
    sink: {
      write,
      isFull: () => outlet.isFull(),
      fail(error) {
        options.log.error({ err: error, sessionId }, 'dialog could not be read');
        outlet.sendError(error, { sessionId: name });
      },
      caughtUp() {
        if (isSynced) return;
        newestAtSync = cursor.position;
        sendSync(cursor.position);
      },
    },
  });
  const stop = watch.followSession(sessionId, (event) => cursor.push(event));
  if (!isResume) sendSync(cursor.position);
  cursor.catchUp();

  return {
    passOver: (runId) => ownRuns.add(runId),
    checkQueue,
    resume: () => cursor.resume(),
    close() {
      stop();
      cursor.close();
    },
  };
}

/** For each run that goes on: the event after which nothing of it is in the messages yet. */
function unstoredFrom(active: readonly ActiveRun[], messages: readonly VisibleMessage[]): number[] {
  return active.map((run) =>
    messages.reduce(
      (newest, message) => (message.runId === run.runId && message.role === 'assistant' ? message.id : newest),
      run.startEventId - 1,
    ),
  );
}

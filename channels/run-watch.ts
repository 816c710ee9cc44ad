/** Sorts the event feed for the followers of a door: by awaited message, by session, by run. One subscription for all. */
import type { EventFeed } from '../src/protocol/control.js';
import type { AgentEvent, EventOf } from '../src/protocol/events.js';
import { type ChatScope, type SessionId, scopeOf } from '../src/protocol/ids.js';

export type EventListener = (event: AgentEvent) => void;
export type StopListening = () => void;

/** A run that has begun and not ended. */
export interface ActiveRun {
  sessionId: SessionId;
  runId: string;
  startEventId: number;
  messageIds: readonly string[];
  /** Input of the tool calls so far, by call id. */
  toolInputs: Map<string, unknown>;
}

/**
 * For each event the followers are called in this order: who awaits the message (on `run-start` only),
 * who follows the session, who follows the run. So an awaiting follower that turns to its run
 * gets the `run-start` there too, and a session's follower hears of an end before the run's follower has gone.
 */
export interface RunWatch {
  /** `place`: the dialog, or only the chat when the message named no dialog. Goes on until it is stopped. */
  awaitRun(
    place: SessionId | ChatScope,
    messageId: string,
    onStart: (event: EventOf<'run-start'>) => void,
  ): StopListening;
  followSession(sessionId: SessionId, listener: EventListener): StopListening;
  followRun(runId: string, listener: EventListener): StopListening;
  activeRuns(sessionId: SessionId): ActiveRun[];
  activeRun(runId: string): ActiveRun | undefined;
}

export function watchRuns(feed: EventFeed): RunWatch {
  const awaited = new Listeners<EventOf<'run-start'>>();
  const bySession = new Listeners<AgentEvent>();
  const byRun = new Listeners<AgentEvent>();
  const active = new Map<string, ActiveRun>();

  const begin = (event: EventOf<'run-start'>) => {
    const { runId, sessionId, messageIds } = event;
    active.set(runId, { sessionId, runId, startEventId: event.id, messageIds, toolInputs: new Map() });
    const scope = scopeOf(sessionId);
    for (const messageId of messageIds) {
      awaited.call(awaitKey(sessionId, messageId), event);
      awaited.call(awaitKey(scope, messageId), event);
    }
  };

  feed.subscribe((event) => {
    if (event.type === 'run-start') begin(event);
    else if (event.type === 'tool-call') active.get(event.runId)?.toolInputs.set(event.callId, event.input);
    bySession.call(event.sessionId, event);
    byRun.call(event.runId, event);
    if (event.type === 'run-end') active.delete(event.runId);
  });

  return {
    awaitRun: (place, messageId, onStart) => awaited.add(awaitKey(place, messageId), onStart),
    followSession: (sessionId, listener) => bySession.add(sessionId, listener),
    followRun: (runId, listener) => byRun.add(runId, listener),
    activeRuns: (sessionId) => [...active.values()].filter((run) => run.sessionId === sessionId),
    activeRun: (runId) => active.get(runId),
  };
}

function awaitKey(place: SessionId | ChatScope, messageId: string): string {
  return `${place}\n${messageId}`;
}

class Listeners<Event> {
  readonly #byKey = new Map<string, Set<(event: Event) => void>>();

  add(key: string, listener: (event: Event) => void): StopListening {
    // Its own function, so that one listener added twice is called and removed twice.
    const entry = (event: Event) => listener(event);
    let set = this.#byKey.get(key);
    if (!set) {
      set = new Set();
      this.#byKey.set(key, set);
    }
    set.add(entry);
    return () => {
      set.delete(entry);
      if (set.size === 0 && this.#byKey.get(key) === set) this.#byKey.delete(key);
    };
  }

  call(key: string, event: Event): void {
    const set = this.#byKey.get(key);
    if (set) for (const listener of set) listener(event);
  }
}

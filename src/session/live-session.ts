/** A loaded dialog: counters, the conversation as the model sees it, and the deltas of a step that is still streaming. */
import type { Checkpoint } from '../agent/conversation.js';
import { createTokenMeter, type TokenMeter } from '../agent/tokens.js';
import type { AgentEvent, EventBody, EventStamp } from '../protocol/events.js';
import type { SessionId } from '../protocol/ids.js';
import type { ModelMessage } from '../providers/model.js';
import { readCheckpoint, rebuildConversation } from './compact-session.js';
import type { SessionRow } from './session-store.js';
import type { Transcript } from './transcript.js';

export interface LiveSession {
  readonly key: number;
  readonly id: SessionId;
  systemPrompt: string | null;
  turnCount: number;
  messageCount: number;
  hasDefaultTitle: boolean;
  /** What stands for the older part of the dialog. */
  checkpoint: Checkpoint | undefined;
  meter: TokenMeter;
  /** Turns that ended, as the model gets them; the same objects from turn to turn. */
  conversation: ModelMessage[];
  /** Events of the step that streams now, newest last; not in storage. */
  liveDeltas: AgentEvent[];
  /** Marks it as in use: a busy session is never evicted, and only one turn works on it. */
  isBusy: boolean;
  /** Stamps an event with the next id. */
  stamp(body: EventBody, run: { runId: string; turn: number }, at: number): AgentEvent;
  /** Leaves a gap, so that ids handed out before a crash are not used twice. */
  skipIds(count: number): void;
}

export function loadSession(row: SessionRow, transcript: Transcript): LiveSession {
  const reference = { key: row.key, id: row.id };
  let lastEventId = transcript.lastEventId(row.key);
  const checkpoint = lastEventId === 0 ? undefined : readCheckpoint(transcript, reference);
  return {
    key: row.key,
    id: row.id,
    systemPrompt: row.systemPrompt,
    turnCount: row.turnCount,
    messageCount: row.messageCount,
    hasDefaultTitle: row.titleSource === 'default',
    checkpoint,
    meter: createTokenMeter(),
    conversation: lastEventId === 0 ? [] : rebuildConversation(transcript, { ...reference, checkpoint }),
    liveDeltas: [],
    isBusy: false,
    stamp(body, run, at) {
      lastEventId += 1;
      const stamp: EventStamp = { id: lastEventId, sessionId: row.id, runId: run.runId, turn: run.turn, at };
      return { ...body, ...stamp };
    },
    skipIds(count) {
      lastEventId += count;
    },
  };
}

/** Loaded sessions by id; the least recently used idle ones leave when there are more than `limit`. */
export class SessionCache {
  readonly #sessions = new Map<SessionId, LiveSession>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(id: SessionId): LiveSession | undefined {
    const session = this.#sessions.get(id);
    if (session) {
      this.#sessions.delete(id);
      this.#sessions.set(id, session);
    }
    return session;
  }

  add(session: LiveSession): void {
    this.#sessions.set(session.id, session);
    for (const [id, candidate] of this.#sessions) {
      if (this.#sessions.size <= this.#limit) return;
      if (!candidate.isBusy && candidate !== session) this.#sessions.delete(id);
    }
  }

  remove(id: SessionId): void {
    this.#sessions.delete(id);
  }
}

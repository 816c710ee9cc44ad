/**
 * Once a dialog has been quiet for `memory.idleConsolidationMinutes`, what was said since the last time is looked
 * through for lasting facts. Off by default. Never in a turn's way.
 */
import type { ProposedMemory } from '../agent/propose-memories.js';
import type { Consolidator } from '../memory/consolidate.js';
import type { MemoryStore } from '../memory/memory-store.js';
import { type Scope, scope, userScope } from '../memory/scopes.js';
import type { Timers } from '../memory/timers.js';
import type { Logger } from '../observability/log.js';
import type { AgentEvent, EventOf } from '../protocol/events.js';
import { parseSessionId, type SessionId, scopeOf } from '../protocol/ids.js';
import type { SessionStore } from './session-store.js';
import type { Transcript } from './transcript.js';

export type ProposeMemories = (
  input: { conversation: string; known: { key: string; content: string }[] },
  signal: AbortSignal,
) => Promise<ProposedMemory[]>;

export interface IdleConsolidation {
  /** Starts the wait of the event's dialog anew. */
  onEvent(event: AgentEvent): void;
  stop(): Promise<void>;
}

/** Dialogs that wait at once; beyond it the one that has waited longest is done at its next turn instead. */
const maxWaiting = 1000;
/** UTF-16 units of one stretch; what is longer is looked through in several. */
const maxStretch = 24_000;
const knownCount = 20;

export function createIdleConsolidation(options: {
  idleMs: number;
  sessions: SessionStore;
  transcript: Transcript;
  memory: Pick<MemoryStore, 'similar'>;
  consolidator: Consolidator;
  propose: ProposeMemories;
  timers: Timers;
  log: Logger;
}): IdleConsolidation {
  const { sessions, transcript, memory, consolidator, log } = options;
  const waiting = new Map<SessionId, () => void>();
  const stopping = new AbortController();
  let work = Promise.resolve();

  const consolidate = async (id: SessionId) => {
    const row = sessions.find(id);
    if (!row || row.deletedAt !== null || stopping.signal.aborted) return;
    const from = consolidator.consolidatedTo(id);
    const stretch = readStretch(transcript.read(row, from, 2000));
    const last = stretch.at(-1);
    if (!last) return;
    const home = homeOf(id, stretch);
    const conversation = stretch.map(lineOf).join('\n');
    const known = memory.similar(conversation, [home], knownCount).map(({ key, content }) => ({ key, content }));
    const proposals = await options.propose({ conversation, known }, stopping.signal);
    const candidates = proposals.map((proposal) => ({ ...proposal, scope: home, observedAt: last.at }));
    const writer = { by: 'consolidation', sessionId: id, writable: [home] };
    consolidator.apply({ sessionId: id, from, to: last.id }, candidates, writer);
  };

  return {
    onEvent(event) {
      if (options.idleMs === 0 || event.type !== 'run-end') return;
      waiting.get(event.sessionId)?.();
      waiting.delete(event.sessionId);
      if (waiting.size >= maxWaiting) {
        const [oldest, cancel] = waiting.entries().next().value!;
        cancel();
        waiting.delete(oldest);
      }
      const cancel = options.timers.after(options.idleMs, () => {
        waiting.delete(event.sessionId);
        work = work
          .then(() => consolidate(event.sessionId))
          .catch((error: unknown) => log.warn({ err: error, sessionId: event.sessionId }, 'consolidation failed'));
      });
      waiting.set(event.sessionId, cancel);
    },
    async stop() {
      stopping.abort();
      for (const cancel of waiting.values()) cancel();
      await work;
    },
  };
}

type Said = EventOf<'user-message'> | EventOf<'assistant-message'>;

function readStretch(events: AgentEvent[]): Said[] {
  const said: Said[] = [];
  let length = 0;
  for (const event of events) {
    if (event.type !== 'user-message' && event.type !== 'assistant-message') continue;
    length += event.text.length;
    if (length > maxStretch && said.length > 0) break;
    said.push(event);
  }
  return said;
}

function lineOf(event: Said): string {
  if (event.type === 'assistant-message') return `Assistant: ${event.text}`;
  return `${event.sender.name ?? 'User'} (${event.sender.id}): ${event.text}`;
}

/** The person's in a direct chat, the group's in a group: there every message was sent with its speaker's mark. */
function homeOf(id: SessionId, said: readonly Said[]): Scope {
  const message = said.findLast((event) => event.type === 'user-message');
  const isGroup = message === undefined || message.sent.startsWith('[speaker ');
  return isGroup ? scope('chat', scopeOf(id)) : userScope(parseSessionId(id)!.channel, message.sender.id);
}

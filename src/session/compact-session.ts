/**
 * Makes a dialog smaller for the model: stores a `compaction` event whose messages stand for everything up to its `to`.
 * The events themselves stay; people and search still see all of it.
 */
import { compact } from '../agent/compaction/compact.js';
import type { CompactionReason } from '../agent/compaction/should-compact.js';
import { type Checkpoint, toEntries, toModelMessages } from '../agent/conversation.js';
import type { EventBody } from '../protocol/events.js';
import type { ModelMessage } from '../providers/model.js';
import type { LiveSession } from './live-session.js';
import type { Transcript } from './transcript.js';
import type { TurnParts } from './turn.js';

export type CompactionReport =
  | { kind: 'compacted'; tokensBefore: number; tokensAfter: number; summary: string }
  | { kind: 'unchanged' }
  | { kind: 'too-large' };

/** Throws the signal's reason, `StorageError`. `run`: whose step asked, or the last one when a person did. */
export async function compactSession(
  parts: TurnParts,
  session: LiveSession,
  run: { runId: string; turn: number },
  reason: CompactionReason,
  signal: AbortSignal,
): Promise<CompactionReport> {
  const from = session.checkpoint?.to ?? 0;
  const outcome = await compact(
    {
      ...parts.config.agent,
      entries: toEntries(parts.transcript.readForModel(session, from + 1), session.checkpoint),
      system: session.systemPrompt ?? '',
      tools: parts.toolSpecs,
      reason,
      ...(reason === 'request' && { keepRecentTurns: 1 }),
      summarise: parts.summarise,
      estimator: session.meter.estimator,
      reportFailure: (error) => parts.log.warn({ err: error, sessionId: session.id }, 'summary without a model'),
    },
    signal,
  );
  if (outcome.kind !== 'compacted') return { kind: outcome.kind };
  const { to, messages, summary, tokensBefore, tokensAfter } = outcome;
  const body: EventBody = { type: 'compaction', from: from + 1, to, summary, messages, tokensBefore, tokensAfter };
  const event = session.stamp(body, run, parts.now());
  parts.db.transaction(() => parts.transcript.append(session.key, event));
  session.checkpoint = { to, messages };
  session.conversation = rebuildConversation(parts.transcript, session);
  // Followers need to know that it happened, not what the model gets.
  parts.hub.publish({ ...event, ...body, messages: [] });
  parts.rememberSummary({ sessionId: session.id, runId: run.runId, key: `${session.id} ${to}`, summary });
  return { kind: 'compacted', tokensBefore, tokensAfter, summary };
}

/** From storage: the newest checkpoint, and what came after it. */
export function rebuildConversation(
  transcript: Transcript,
  session: Pick<LiveSession, 'key' | 'id' | 'checkpoint'>,
): ModelMessage[] {
  const { checkpoint } = session;
  return toModelMessages(transcript.readForModel(session, (checkpoint?.to ?? 0) + 1), checkpoint);
}

export function readCheckpoint(
  transcript: Transcript,
  session: Pick<LiveSession, 'key' | 'id'>,
): Checkpoint | undefined {
  const [event] = transcript.readBackwards(session, ['compaction'], Number.MAX_SAFE_INTEGER, 1);
  return event?.type === 'compaction' ? { to: event.to, messages: event.messages as ModelMessage[] } : undefined;
}

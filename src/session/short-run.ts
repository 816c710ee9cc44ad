/** A run without the agent: a command's answer, a message dropped before its turn. Stored and ended in one transaction. */
import type { QueuedMessage } from '../bus/inbound-queue.js';
import type { EventBody, StopReason } from '../protocol/events.js';
import type { LiveSession } from './live-session.js';
import type { TurnParts } from './turn.js';

export function recordShortRun(
  parts: TurnParts,
  session: LiveSession,
  queued: QueuedMessage,
  end: { model: string; between: EventBody[]; stopReason: StopReason; text: string; reply?: string },
): void {
  const { message } = queued;
  const run = { runId: parts.newId('run'), turn: session.turnCount };
  const at = parts.now();
  const bodies: EventBody[] = [
    { type: 'run-start', model: end.model, messageIds: [message.messageId], attempt: 1 },
    ...end.between,
    { type: 'run-end', stopReason: end.stopReason, text: end.text, usage: {} },
  ];
  const events = bodies.map((body) => session.stamp(body, run, at));
  const answer = parts.db.transaction(() => {
    const startEventId = events[0]!.id;
    parts.runs.start({ id: run.runId, sessionKey: session.key, turn: run.turn, startEventId, model: end.model, at });
    for (const event of events) parts.transcript.append(session.key, event);
    parts.runs.end(run.runId, { stopReason: end.stopReason, usage: {}, at });
    parts.bus.inbound.finish([queued.seq], run.runId);
    if (end.reply === undefined) return undefined;
    return parts.bus.outbound.put({
      id: parts.newId('out'),
      channel: message.channel,
      chatId: message.chatId,
      body: end.reply,
      attachments: [],
      runId: run.runId,
      sessionId: session.id,
      ...(message.chatType === 'group' && { replyTo: message.messageId }),
    });
  });
  parts.bus.inbound.release([queued.seq]);
  for (const event of events) parts.hub.publish(event);
  if (answer) parts.bus.outbound.announce(answer);
}

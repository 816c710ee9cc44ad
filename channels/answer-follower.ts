/** Follows the run that answers one message: waits for it, or replays it when the message was sent before. */
import type { ControlChannel } from '../src/protocol/control.js';
import type { AgentEvent, EventOf } from '../src/protocol/events.js';
import { chatScope, parseSessionId, type SessionId, sessionId } from '../src/protocol/ids.js';
import { EventCursor, type EventSink } from './event-cursor.js';
import type { RunWatch, StopListening } from './run-watch.js';

export interface FollowedMessage {
  channel: string;
  chatId: string;
  dialogId?: string;
  messageId: string;
}

export interface AnswerFollower {
  /** The message is stored: deliver what has come since `follow` and what comes. */
  open(): void;
  /** The message was stored before: deliver its run's events with an id above `after`, then what comes. */
  replay(after: number): void;
  /** The reader has drained. */
  resume(): void;
  close(): void;
}

/** Call before the message is published, so that no event is missed. Nothing reaches the sink before `open` or `replay`. */
export function followAnswer(options: {
  message: FollowedMessage;
  /** The id was made up just now, so no other message can have it. */
  isFreshId: boolean;
  control: ControlChannel;
  watch: RunWatch;
  sink: EventSink;
  pausesLive: boolean;
  /** A replayed run has ended and the reader knew its `run-end` already, or the end was never stored. */
  onExhausted: () => void;
  /** The run that answers is known; called before its events reach the sink, again when `replay` finds it anew. */
  onRun?: (run: { runId: string; sessionId: SessionId; isRunning: boolean }) => void;
}): AnswerFollower {
  const { message, control, watch, sink } = options;
  const { channel, chatId, dialogId, messageId } = message;
  let isOpen = false;
  let held: AgentEvent[] = [];
  let cursor: EventCursor | undefined;
  let stopRun: StopListening | undefined;

  const follow = (id: SessionId, runId: string, after: number, isRunning: boolean) => {
    stopAwaiting();
    options.onRun?.({ runId, sessionId: id, isRunning });
    const next = new EventCursor({
      after,
      read: (from, limit) => control.events(id, from, limit),
      accepts: (event) => event.runId === runId,
      sink: {
        write: (event) => sink.write(event),
        isFull: () => sink.isFull(),
        fail: (error) => sink.fail(error),
        caughtUp: () => {
          if (!isRunning) options.onExhausted();
        },
      },
      pausesLive: options.pausesLive,
    });
    cursor = next;
    stopRun = watch.followRun(runId, (event) => {
      if (isOpen) next.push(event);
      else held.push(event);
    });
    return next;
  };
  const place = dialogId === undefined ? chatScope({ channel, chatId }) : sessionId({ channel, chatId, dialogId });
  const stopAwaiting = watch.awaitRun(place, messageId, (event) => {
    if (isOurs(event)) follow(event.sessionId, event.runId, event.id - 1, true);
  });

  /** A message that names no dialog and one that names this dialog may have the same id. */
  function isOurs({ runId, sessionId: id }: EventOf<'run-start'>): boolean {
    if (options.isFreshId || dialogId !== undefined) return true;
    const ours = control.runOf(message);
    if (ours) return ours.runId === runId;
    // A run that only tells of a failure is not stored: it is ours unless the other message is known to have it.
    const named = parseSessionId(id);
    return named === undefined || control.runOf({ ...named, messageId })?.runId !== runId;
  }

  const open = () => {
    isOpen = true;
    const early = held;
    held = [];
    for (const event of early) cursor?.push(event);
  };

  return {
    open,
    replay(after) {
      const run = control.runOf(message);
      if (!run) {
        open();
        return;
      }
      held = [];
      isOpen = true;
      stopRun?.();
      follow(run.sessionId, run.runId, Math.max(after, run.startEventId - 1), run.state === 'running').catchUp();
    },
    resume: () => cursor?.resume(),
    close() {
      stopAwaiting();
      stopRun?.();
      cursor?.close();
    },
  };
}

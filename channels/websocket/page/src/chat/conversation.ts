/**
 * One dialog as the page knows it: pure steps from one immutable state to the next. What is stored
 * replaces what was streamed, by event id, so that a reconnect or a second stream never shows text twice.
 */
import type { VisibleMessage } from '../../../../../src/protocol/control.js';
import type { StopReason } from '../../../../../src/protocol/events.js';
import type { EndFrame, PageFrame, QueuedMessageView } from '../wire/frames.js';
import { addReasoning, addText, addToolCall, dropStored, endRun, type LiveRun, withoutDrafts } from './live-run.js';
import { mergeToolCall, type ShownMessage, updateToolCall } from './shown-message.js';

/** A message typed here that is not in the stored conversation yet. */
export interface OutgoingMessage {
  messageId: string;
  text: string;
  at: number;
  /** `waiting`: not sent, the connection is down; `sent`: on its way or queued there; `dropped`: by stop, before its turn. */
  state: 'waiting' | 'sent' | 'failed' | 'dropped';
}

export interface TurnError {
  code: string;
  message: string;
  messageId?: string;
}

export interface Conversation {
  key: string;
  state: 'loading' | 'ready' | 'failed' | 'missing';
  /** Stored, oldest first, by rising event id. */
  messages: readonly ShownMessage[];
  hasOlder: boolean;
  isLoadingOlder: boolean;
  live: readonly LiveRun[];
  outgoing: readonly OutgoingMessage[];
  queue: readonly QueuedMessageView[];
  /** Own messages whose `end` has not come. */
  awaiting: readonly string[];
  /** The server said that a turn is going on; any `end` clears it. */
  isBusyElsewhere: boolean;
  /** Highest event id seen; what comes with a lower one was seen before. 0: nothing yet. */
  lastEventId: number;
  errors: readonly TurnError[];
  /** How turns that did not end normally ended, by run id. */
  endings: ReadonlyMap<string, StopReason>;
}

export function emptyConversation(key: string): Conversation {
  return {
    key,
    state: 'loading',
    messages: [],
    hasOlder: false,
    isLoadingOlder: false,
    live: [],
    outgoing: [],
    queue: [],
    awaiting: [],
    isBusyElsewhere: false,
    lastEventId: 0,
    errors: [],
    endings: new Map(),
  };
}

export function isRunning(conversation: Conversation): boolean {
  return (
    conversation.awaiting.length > 0 || conversation.isBusyElsewhere || conversation.live.some((run) => !run.hasEnded)
  );
}

/** The newest page of the stored conversation. */
export function loaded(
  conversation: Conversation,
  messages: readonly VisibleMessage[],
  info: { hasOlder: boolean; isBusy: boolean },
): Conversation {
  const next = addMessages(conversation, messages);
  return { ...next, state: 'ready', hasOlder: info.hasOlder, isBusyElsewhere: info.isBusy };
}

export function olderLoaded(
  conversation: Conversation,
  messages: readonly VisibleMessage[],
  hasOlder: boolean,
): Conversation {
  return { ...conversation, messages: merge(conversation.messages, messages), hasOlder, isLoadingOlder: false };
}

/** A new own message, or a new state of one. */
export function withOutgoing(conversation: Conversation, message: OutgoingMessage): Conversation {
  const { messageId } = message;
  const index = conversation.outgoing.findIndex((other) => other.messageId === messageId);
  const others = conversation.awaiting.filter((id) => id !== messageId);
  return {
    ...conversation,
    outgoing: index < 0 ? [...conversation.outgoing, message] : conversation.outgoing.with(index, message),
    awaiting: message.state === 'sent' ? [...others, messageId] : others,
    errors: [],
  };
}

export function discardOutgoing(conversation: Conversation, messageId: string): Conversation {
  return {
    ...conversation,
    outgoing: conversation.outgoing.filter((message) => message.messageId !== messageId),
    awaiting: conversation.awaiting.filter((id) => id !== messageId),
    errors: conversation.errors.filter((error) => error.messageId !== messageId),
  };
}

export function failed(conversation: Conversation, error: TurnError): Conversation {
  const isKnown =
    conversation.errors.some((known) => known.message === error.message) ||
    conversation.messages
      .slice(-5)
      .some((message) => message.role === 'notice' && message.text.includes(error.message));
  return {
    ...conversation,
    outgoing: conversation.outgoing.map((message) =>
      message.messageId === error.messageId ? { ...message, state: 'failed' } : message,
    ),
    awaiting: conversation.awaiting.filter((id) => id !== error.messageId),
    errors: isKnown ? conversation.errors : [...conversation.errors, error],
  };
}

/** Applies one frame of this dialog. Frames of no interest, and those seen before, leave it as it is. */
export function applyFrame(conversation: Conversation, frame: PageFrame): Conversation {
  switch (frame.type) {
    case 'start': {
      if (frame.eventId <= conversation.lastEventId) return conversation;
      // Above 1 the daemon was restarted, and the unfinished step comes again from its beginning.
      const live = frame.content.attempt > 1 ? withoutDrafts(conversation.live) : conversation.live;
      return seen({ ...conversation, live: withRun(live, frame.runId) }, frame.eventId);
    }
    case 'text':
    case 'reasoning': {
      if (frame.eventId <= conversation.lastEventId) return conversation;
      const add = frame.type === 'text' ? addText : addReasoning;
      const live = add(conversation.live, frame.runId, frame.eventId, frame.content);
      return seen({ ...conversation, live }, frame.eventId);
    }
    case 'tool_calls': {
      let next = conversation;
      for (const call of frame.content) {
        const messages = updateToolCall(next.messages, call);
        next = messages
          ? { ...next, messages, live: withRun(next.live, frame.runId) }
          : { ...next, live: addToolCall(next.live, frame.runId, frame.eventId, call) };
      }
      return seen(next, frame.eventId);
    }
    case 'end':
      return seen(ended(conversation, frame), frame.eventId);
    case 'history/add':
      return addMessages(conversation, frame.content);
    case 'sync':
      return synced(conversation, frame.content.messages, frame.content.lastEventId);
    case 'context':
      return { ...conversation, queue: frame.content };
    case 'error':
      return failed(conversation, {
        ...frame.content,
        ...(frame.messageId !== undefined && { messageId: frame.messageId }),
      });
    default:
      return conversation;
  }
}

function ended(conversation: Conversation, { runId, messageId, content }: EndFrame): Conversation {
  const isOrdinary = content.stopReason === 'end_turn' || content.stopReason === 'model_error';
  return {
    ...conversation,
    awaiting: conversation.awaiting.filter((id) => id !== messageId),
    outgoing:
      content.stopReason === 'cancelled' && conversation.outgoing.some((message) => message.messageId === messageId)
        ? conversation.outgoing.map((message) =>
            message.messageId === messageId ? { ...message, state: 'dropped' } : message,
          )
        : conversation.outgoing,
    isBusyElsewhere: false,
    live: endRun(conversation.live, runId),
    endings: isOrdinary ? conversation.endings : new Map(conversation.endings).set(runId, content.stopReason),
  };
}

/**
 * The server's newest messages. An older `lastEventId` than ours means that it lost what we saw (a crash, a restored
 * backup), and a list without one that we know means that too much was missed: both begin anew.
 */
function synced(conversation: Conversation, messages: readonly VisibleMessage[], lastEventId: number): Conversation {
  const oldest = messages[0];
  const newestKnown = conversation.messages.at(-1);
  const hasGap =
    oldest !== undefined && newestKnown !== undefined && oldest.id > newestKnown.id && messages.length > 50;
  const isOtherPast = lastEventId < conversation.lastEventId;
  if (isOtherPast) {
    const anew = { ...conversation, messages: [], live: [], hasOlder: messages.length > 0, lastEventId: 0 };
    return { ...addMessages(anew, messages), lastEventId };
  }
  const isFirst = newestKnown === undefined && messages.length > 50;
  const base = hasGap || isFirst ? { ...conversation, messages: [], hasOlder: true } : conversation;
  return seen(addMessages(base, messages), lastEventId);
}

function addMessages(conversation: Conversation, messages: readonly VisibleMessage[]): Conversation {
  if (messages.length === 0) return conversation;
  let { live } = conversation;
  const shown = messages.map((message): ShownMessage => {
    if (message.role !== 'assistant') return message;
    const dropped = dropStored(live, message);
    live = dropped.live;
    return dropped.message;
  });
  const storedIds = new Set(messages.flatMap((message) => message.messageId ?? []));
  const notices = messages.filter((message) => message.role === 'notice');
  return seen(
    {
      ...conversation,
      messages: merge(conversation.messages, shown),
      live,
      outgoing: conversation.outgoing.filter((message) => !storedIds.has(message.messageId)),
      queue: conversation.queue.filter((message) => !storedIds.has(message.messageId)),
      errors: conversation.errors.filter((error) => !notices.some((notice) => notice.text.includes(error.message))),
    },
    messages.at(-1)!.id,
  );
}

/** Joins two lists by event id; a message that is there already keeps what only this page knows about it. */
function merge(known: readonly ShownMessage[], added: readonly ShownMessage[]): readonly ShownMessage[] {
  const newest = known.at(-1);
  if (added.length === 0) return known;
  if (!newest || added[0]!.id > newest.id) return [...known, ...added];
  const byId = new Map(known.map((message) => [message.id, message]));
  for (const message of added) {
    const before = byId.get(message.id);
    byId.set(message.id, before ? mergeMessage(before, message) : message);
  }
  return [...byId.values()].sort((a, b) => a.id - b.id);
}

/** The same object when nothing changed, so that the message is not drawn again. */
function mergeMessage(before: ShownMessage, after: ShownMessage): ShownMessage {
  const toolCalls = after.toolCalls?.map((call) =>
    mergeToolCall(before.toolCalls?.find((known) => known.callId === call.callId) ?? call, call),
  );
  const reasoning = after.reasoning ?? before.reasoning;
  const next = { ...after, ...(toolCalls && { toolCalls }), ...(reasoning !== undefined && { reasoning }) };
  return JSON.stringify(next) === JSON.stringify({ ...before }) ? before : next;
}

function withRun(live: readonly LiveRun[], runId: string): readonly LiveRun[] {
  return live.some((run) => run.runId === runId) ? live : [...live, { runId, hasEnded: false, segments: [] }];
}

function seen(conversation: Conversation, eventId: number): Conversation {
  return eventId > conversation.lastEventId ? { ...conversation, lastEventId: eventId } : conversation;
}

/**
 * The conversation as a model gets it, rebuilt from stored events.
 * Pure, so the same events give the same bytes; what does not fit together is repaired, never sent.
 */
import type { AgentEvent, AssistantToolCall, EventBody } from '../protocol/events.js';
import type { ModelMessage } from '../providers/model.js';
import { cleanText } from '../tools/clean-text.js';

type AssistantEvent = Extract<EventBody, { type: 'assistant-message' }>;
type ResultEvent = Extract<EventBody, { type: 'tool-result' }>;

/** The result of a call that a restart cut off. */
export const interruptedByRestart =
  'This call was interrupted by a restart; it may or may not have taken effect. Check before repeating it.';

/** A message with the event that it stands for; the results of a call that has none bear the id of the call's event. */
export interface Entry {
  eventId: number;
  message: ModelMessage;
}

/** What stands for every event up to `to`, that one included. */
export interface Checkpoint {
  to: number;
  messages: ModelMessage[];
}

/**
 * Events of one session, oldest first. The outcome is valid for every wire: it starts with the user, no text is empty,
 * call ids are unique, names are callable, and each call is followed by exactly its result, in call order.
 */
export function toModelMessages(events: readonly AgentEvent[], checkpoint?: Checkpoint): ModelMessage[] {
  return toEntries(events, checkpoint).map((entry) => entry.message);
}

/** The same with event ids. The checkpoint's messages come first and go out as they are; they bear the id `to`. */
export function toEntries(events: readonly AgentEvent[], checkpoint?: Checkpoint): Entry[] {
  const entries = checkpoint?.messages.map((message) => ({ eventId: checkpoint.to, message })) ?? [];
  const relevant = events.filter(
    (event) =>
      event.id > (checkpoint?.to ?? Number.NEGATIVE_INFINITY) &&
      (event.type === 'user-message' || event.type === 'assistant-message' || event.type === 'tool-result'),
  );
  const results = matchResults(relevant);
  const usedIds = new Set(
    entries.flatMap(({ message }) =>
      message.role === 'assistant' ? message.toolCalls.map((call) => call.callId) : [],
    ),
  );
  for (const event of relevant) {
    if (event.type === 'user-message') {
      const message: ModelMessage = {
        role: 'user',
        content: [{ type: 'text', text: textOr(event.sent, '(no text)') }],
      };
      entries.push({ eventId: event.id, message });
    } else if (event.type === 'assistant-message' && entries.length > 0) {
      const calls = fitCalls(event.toolCalls, usedIds);
      const message = assistantMessage({ ...event, toolCalls: calls });
      if (!message) continue;
      entries.push({ eventId: event.id, message });
      for (const [position, call] of calls.entries()) {
        const result = results.get(event.toolCalls[position] as AssistantToolCall);
        const outcome = result ?? { id: event.id, state: 'interrupted', output: interruptedByRestart };
        entries.push({ eventId: outcome.id, message: toolMessage({ ...call, ...outcome }) });
      }
    }
  }
  return entries;
}

/** Undefined when there is nothing in it that a model may be sent. */
export function assistantMessage(
  event: Pick<AssistantEvent, 'text' | 'reasoning' | 'toolCalls'>,
): ModelMessage | undefined {
  const text = textOr(event.text, '');
  if (text === '' && event.toolCalls.length === 0) return undefined;
  return {
    role: 'assistant',
    text,
    ...(event.reasoning && { reasoning: event.reasoning }),
    toolCalls: event.toolCalls,
  };
}

export function toolMessage(event: Pick<ResultEvent, 'callId' | 'name' | 'output' | 'state'>): ModelMessage {
  return {
    role: 'tool',
    callId: event.callId,
    name: event.name,
    output: textOr(event.output, '(no output)'),
    isError: event.state !== 'done',
  };
}

/**
 * The calls with ids that are not empty and not in `usedIds`, which grows by them, and with names that wires take:
 * a name that the model made up must not make every later request invalid.
 */
export function fitCalls(calls: readonly AssistantToolCall[], usedIds: Set<string>): AssistantToolCall[] {
  return calls.map((call) => {
    const base = call.callId || 'call';
    let callId = base;
    for (let count = 2; usedIds.has(callId); count += 1) callId = `${base}_${count}`;
    usedIds.add(callId);
    const name = call.name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
    return { ...call, callId, name };
  });
}

type StoredResult = Pick<ResultEvent, 'state' | 'output'> & { id: number };

/** A result belongs to the newest call before it with its id; the first one counts. */
function matchResults(events: readonly AgentEvent[]): Map<AssistantToolCall, StoredResult> {
  const results = new Map<AssistantToolCall, StoredResult>();
  const open = new Map<string, AssistantToolCall[]>();
  for (const event of events) {
    if (event.type === 'assistant-message') {
      for (const id of new Set(event.toolCalls.map((call) => call.callId))) {
        open.set(
          id,
          event.toolCalls.filter((call) => call.callId === id),
        );
      }
    } else if (event.type === 'tool-result') {
      const call = open.get(event.callId)?.shift();
      if (call) results.set(call, { id: event.id, state: event.state, output: event.output });
    }
  }
  return results;
}

/** Whitespace alone counts as empty: Anthropic refuses it. */
function textOr(text: string, fallback: string): string {
  return text.trim() === '' ? fallback : cleanText(text);
}

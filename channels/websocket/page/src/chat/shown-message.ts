/** A stored message with what only this page knows, and the state of its tool calls. */
import type { VisibleMessage } from '../../../../../src/protocol/control.js';
import type { ToolCallView } from '../wire/frames.js';

export type ShownToolCall = NonNullable<VisibleMessage['toolCalls']>[number];

export interface ShownMessage extends VisibleMessage {
  /** What the model thought before it wrote this, as far as this page saw it stream. */
  reasoning?: string;
}

export function toShownCall(view: ToolCallView): ShownToolCall {
  const { id, name, input, state, result } = view;
  return { callId: id, name, input, state, ...(result !== undefined && { output: result }) };
}

/** A call never goes back from its result to "running", whichever of two reports comes first. */
export function mergeToolCall(before: ShownToolCall, after: ShownToolCall): ShownToolCall {
  return before.state !== 'running' && after.state === 'running' ? before : after;
}

/** The list with the call's new state, or undefined when no recent message made this call. */
export function updateToolCall(
  messages: readonly ShownMessage[],
  view: ToolCallView,
): readonly ShownMessage[] | undefined {
  const index = messages.findLastIndex((message) => message.toolCalls?.some((call) => call.callId === view.id));
  const message = messages[index];
  if (!message?.toolCalls) return undefined;
  const toolCalls = message.toolCalls.map((call) =>
    call.callId === view.id ? mergeToolCall(call, toShownCall(view)) : call,
  );
  return messages.with(index, { ...message, toolCalls });
}

/** Agent events as frames. Followers differ only in how they name dialog and message, so contents are written as JSON once. */
import type { AgentEvent } from '../../src/protocol/events.js';
import type { ToolCallView, TurnFrame } from '../../src/protocol/frames.js';

/** A frame without what differs between followers. */
export interface FramePart {
  type: string;
  /** JSON. */
  content: string;
}

/** Finds the input of a tool call that has ended; its result does not repeat it. */
export type FindInput = (event: AgentEvent & { type: 'tool-result' }) => unknown;

export type FrameEncoder = (event: AgentEvent, findInput: FindInput) => readonly FramePart[];

/** Keeps the newest event's parts: its followers come one after the other. */
export function createFrameEncoder(): FrameEncoder {
  let last: AgentEvent | undefined;
  let parts: readonly FramePart[] = [];
  return (event, findInput) => {
    if (event !== last) {
      parts = partsOf(event, findInput);
      last = event;
    }
    return parts;
  };
}

/** What is the same in every frame of a turn for one follower; JSON members. */
export function stampText(sessionId: string, messageId: string, runId: string): string {
  return `"sessionId":${JSON.stringify(sessionId)},"messageId":${JSON.stringify(messageId)},"runId":${JSON.stringify(runId)}`;
}

export function frameText(part: FramePart, stamp: string, eventId: number): string {
  return `{"type":"${part.type}",${stamp},"eventId":${eventId},"content":${part.content}}`;
}

function partsOf(event: AgentEvent, findInput: FindInput): readonly FramePart[] {
  switch (event.type) {
    case 'run-start':
      return [part('start', { model: event.model, attempt: event.attempt })];
    case 'text-delta':
      return [part('text', event.text)];
    case 'reasoning-delta':
      return [part('reasoning', event.text)];
    case 'notice':
      return [part('notice', event.text)];
    case 'tool-call':
      return [toolCall({ id: event.callId, name: event.name, input: event.input, state: 'running' })];
    case 'tool-result':
      return [
        toolCall({
          id: event.callId,
          name: event.name,
          input: findInput(event) ?? null,
          state: event.state,
          result: event.output,
        }),
      ];
    case 'run-end': {
      const { stopReason, usage, text, error } = event;
      const end = part('end', { stopReason, usage, text });
      return error ? [{ type: 'error', content: JSON.stringify(error) }, end] : [end];
    }
    default:
      return [];
  }
}

type ContentOf<Type extends TurnFrame['type']> = Extract<TurnFrame, { type: Type }>['content'];

function part<Type extends TurnFrame['type']>(type: Type, content: ContentOf<Type>): FramePart {
  return { type, content: JSON.stringify(content) };
}

function toolCall(view: ToolCallView): FramePart {
  return part('tool_calls', [view]);
}

/** The part of a running turn that is not stored yet: what streams now, in the order it came. */
import type { VisibleMessage } from '../../../../../src/protocol/control.js';
import type { ToolCallView } from '../wire/frames.js';
import { mergeToolCall, type ShownMessage, type ShownToolCall, toShownCall } from './shown-message.js';

export type LiveSegment =
  | { kind: 'text' | 'reasoning'; firstEventId: number; lastEventId: number; text: string }
  | { kind: 'tool'; firstEventId: number; lastEventId: number; call: ShownToolCall };

export interface LiveRun {
  runId: string;
  hasEnded: boolean;
  segments: readonly LiveSegment[];
}

type Runs = readonly LiveRun[];

export function addText(runs: Runs, runId: string, eventId: number, text: string): Runs {
  return addDelta(runs, runId, 'text', eventId, text);
}

export function addReasoning(runs: Runs, runId: string, eventId: number, text: string): Runs {
  return addDelta(runs, runId, 'reasoning', eventId, text);
}

/** A call's start and its end are the same segment. */
export function addToolCall(runs: Runs, runId: string, eventId: number, view: ToolCallView): Runs {
  return changeRun(runs, runId, (segments) => {
    const call = toShownCall(view);
    const index = segments.findIndex((segment) => segment.kind === 'tool' && segment.call.callId === call.callId);
    const known = segments[index];
    if (known?.kind !== 'tool') {
      return [...segments, { kind: 'tool', firstEventId: eventId, lastEventId: eventId, call }];
    }
    return segments.with(index, { ...known, lastEventId: eventId, call: mergeToolCall(known.call, call) });
  });
}

/** A daemon that was restarted has forgotten all that was not stored. */
export function withoutDrafts(runs: Runs): Runs {
  return runs.map((run) => ({ ...run, segments: [] }));
}

/** A run with nothing left to show disappears; the rest of a cancelled one stays until the dialog is opened again. */
export function endRun(runs: Runs, runId: string): Runs {
  return runs.flatMap((run) => {
    if (run.runId !== runId) return [run];
    return run.segments.length === 0 ? [] : [{ ...run, hasEnded: true }];
  });
}

/** Takes out what the stored message replaces. Reasoning is not stored for people, so it moves into the message. */
export function dropStored(runs: Runs, message: VisibleMessage): { live: Runs; message: ShownMessage } {
  const run = runs.find((candidate) => candidate.runId === message.runId);
  if (!run) return { live: runs, message };
  const reasoning: string[] = [];
  const callsSoFar = new Map<string, ShownToolCall>();
  const segments = run.segments.filter((segment) => {
    if (segment.kind === 'tool') {
      const isStored = message.toolCalls?.some((call) => call.callId === segment.call.callId) ?? false;
      if (isStored) callsSoFar.set(segment.call.callId, segment.call);
      return !isStored && segment.firstEventId > message.id;
    }
    if (segment.lastEventId > message.id) return true;
    if (segment.kind === 'reasoning') reasoning.push(segment.text);
    return false;
  });
  const toolCalls = message.toolCalls?.map((call) => mergeToolCall(callsSoFar.get(call.callId) ?? call, call));
  return {
    live: runs.flatMap((candidate) => {
      if (candidate !== run) return [candidate];
      return run.hasEnded && segments.length === 0 ? [] : [{ ...run, segments }];
    }),
    message: {
      ...message,
      ...(toolCalls && { toolCalls }),
      ...(reasoning.length > 0 && { reasoning: reasoning.join('\n\n') }),
    },
  };
}

function addDelta(runs: Runs, runId: string, kind: 'text' | 'reasoning', eventId: number, text: string): Runs {
  return changeRun(runs, runId, (segments) => {
    const last = segments.at(-1);
    if (last?.kind !== kind) {
      return [...segments, { kind, firstEventId: eventId, lastEventId: eventId, text }];
    }
    return segments.with(-1, { ...last, lastEventId: eventId, text: last.text + text });
  });
}

function changeRun(runs: Runs, runId: string, change: (segments: readonly LiveSegment[]) => LiveSegment[]): Runs {
  const index = runs.findIndex((run) => run.runId === runId);
  const run = runs[index];
  if (!run) return [...runs, { runId, hasEnded: false, segments: change([]) }];
  return runs.with(index, { ...run, hasEnded: false, segments: change(run.segments) });
}

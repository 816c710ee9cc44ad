/** Runs the calls of one step: read-only neighbours side by side, the others one by one, results in call order. */
import type { AssistantToolCall, EventBody } from '../protocol/events.js';
import type { ModelEndReason } from '../providers/model.js';
import type { ToolRegistry } from '../tools/registry.js';
import type { LoopDependencies } from './loop-dependencies.js';
import { type PreparedCall, prepareCall } from './prepare-call.js';
import type { LoopEvent, RunDescription } from './run-description.js';
import { runTool, type ToolOutcome } from './run-tool.js';
import { tidyOutput } from './tool-output.js';

export type ToolResultEvent = Extract<EventBody, { type: 'tool-result' }>;

export interface ToolStep {
  description: RunDescription;
  registry: ToolRegistry;
  step: number;
  toolCalls: readonly AssistantToolCall[];
  endReason: ModelEndReason;
}

const maxAtOnce = 8;

/** Returns exactly one result per call, in call order; after an abort those of the unfinished calls are `interrupted`. */
export async function* runToolCalls(
  { description, registry, step, toolCalls, endReason }: ToolStep,
  deps: LoopDependencies,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, ToolResultEvent[]> {
  const results: ToolResultEvent[] = [];
  // Ends what still runs when the consumer walks away from the generator.
  const left = new AbortController();
  const callSignal = AbortSignal.any([signal, left.signal]);
  try {
    for (const group of groupCalls(toolCalls.map((call) => prepareCall(call, registry, endReason)))) {
      for (const { call } of signal.aborted ? [] : group) {
        yield { type: 'tool-call', step, callId: call.callId, name: call.name, input: call.input };
      }
      const outcomes: Promise<ToolOutcome>[] = [];
      for (const [index, prepared] of group.entries()) {
        const slotIsFree = outcomes[index - maxAtOnce];
        outcomes.push(runPrepared(prepared, slotIsFree, description, deps, callSignal));
      }
      for (const [index, { call }] of group.entries()) {
        const outcome = (await outcomes[index]) as ToolOutcome;
        if (outcome.hasRun) await deps.checkpoint('after-tool');
        const { state, durationMs } = outcome;
        const output = tidyOutput(outcome.output);
        const { callId, name } = call;
        const result: ToolResultEvent = { type: 'tool-result', step, callId, name, state, output, durationMs };
        results.push(result);
        yield result;
      }
    }
    return results;
  } finally {
    left.abort();
  }
}

/** Neighbours that change nothing share a group; every other call is one of its own. */
function groupCalls(calls: PreparedCall[]): PreparedCall[][] {
  const groups: PreparedCall[][] = [];
  let isOpen = false;
  for (const call of calls) {
    const isHarmless = 'problem' in call || call.tool.isReadOnly;
    if (isHarmless && isOpen) groups.at(-1)?.push(call);
    else groups.push([call]);
    isOpen = isHarmless;
  }
  return groups;
}

async function runPrepared(
  prepared: PreparedCall,
  slotIsFree: Promise<ToolOutcome> | undefined,
  description: RunDescription,
  deps: LoopDependencies,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  await slotIsFree;
  if ('problem' in prepared) return { state: 'failed', output: prepared.problem, durationMs: 0, hasRun: false };
  await deps.checkpoint('before-tool');
  if (signal.aborted) {
    const output = 'Not run: the run was stopped before this call.';
    return { state: 'interrupted', output, durationMs: 0, hasRun: false };
  }
  const { actor, sessionId, runId } = description;
  return runTool(prepared.tool, prepared.input, { actor, sessionId, runId }, deps, signal);
}

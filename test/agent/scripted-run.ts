/** A model that follows a script, tools of a line each, and a consumer that keeps what the loop yields. */
import { z } from 'zod';
import { runAgent } from '../../src/agent/loop.js';
import type { LoopDependencies } from '../../src/agent/loop-dependencies.js';
import type { LoopEvent, RunDescription, RunResult } from '../../src/agent/run-description.js';
import type { AgentEvent, EventBody } from '../../src/protocol/events.js';
import type { Model, ModelEndReason, ModelEvent, ModelMessage, ModelRequest } from '../../src/providers/model.js';
import { defineTool, type Tool, type ToolContext } from '../../src/tools/tool.js';

export type ScriptedStep =
  | readonly ModelEvent[]
  | ((request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>);

export function end(reason: ModelEndReason = 'stop'): ModelEvent {
  return { type: 'end', reason, model: 'test/model', usage: { inputTokens: 10, outputTokens: 2 } };
}

export function say(text: string, reason: ModelEndReason = 'stop'): ModelEvent[] {
  return [{ type: 'text-delta', text }, end(reason)];
}

export function call(name: string, input: unknown = {}, callId = `call_${name}`): ModelEvent {
  return { type: 'tool-call', callId, name, input };
}

/** Keeps the requests as they were when they came; the last step is repeated when the script is over. */
export function scriptedModel(steps: readonly ScriptedStep[]): Model & { requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    id: 'test/model',
    requests,
    async *stream(request, signal) {
      const step = steps[Math.min(requests.length, steps.length - 1)];
      requests.push(structuredClone(request));
      if (typeof step === 'function') yield* step(request, signal);
      else yield* step ?? [];
    },
  };
}

export function tool(
  name: string,
  run: (input: { value?: unknown }, context: ToolContext) => Promise<string> | string,
  options: { isReadOnly?: boolean; timeoutMs?: number } = {},
): Tool {
  return defineTool({
    name,
    description: name,
    input: z.strictObject({ value: z.unknown().optional() }),
    isReadOnly: options.isReadOnly ?? false,
    ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
    run: async (input, context) => run(input, context),
  }) as Tool;
}

export const question: ModelMessage = { role: 'user', content: [{ type: 'text', text: 'question' }] };

export interface ScriptedRun {
  model: Model;
  tools?: readonly Tool[];
  messages?: ModelMessage[];
  limits?: Partial<RunDescription['limits']>;
  context?: Pick<RunDescription, 'isTooLarge' | 'compact'>;
  deps?: Partial<LoopDependencies>;
  signal?: AbortSignal;
  /** Called with each event when it is "stored", before the loop goes on. */
  onEvent?: (event: LoopEvent) => void | Promise<void>;
}

export async function run(options: ScriptedRun): Promise<{ events: LoopEvent[]; result: RunResult; bugs: unknown[] }> {
  const events: LoopEvent[] = [];
  const bugs: unknown[] = [];
  const agent = runAgent(
    {
      runId: 'run_1',
      sessionId: 'cli:local:d_1',
      system: 'system',
      messages: options.messages ?? [question],
      model: options.model,
      tools: options.tools ?? [],
      actor: { channel: 'cli', chatId: 'local', chatType: 'direct', userId: 'u1', role: 'owner' },
      thinking: 'off',
      limits: { maxSteps: 25, stepsDone: 0, ...options.limits },
      ...options.context,
    },
    { now: () => 0, checkpoint: () => {}, reportBug: (error) => bugs.push(error), ...options.deps },
    options.signal ?? new AbortController().signal,
  );
  for (;;) {
    const next = await agent.next();
    if (next.done) return { events, result: next.value, bugs };
    events.push(next.value);
    try {
      await options.onEvent?.(next.value);
    } catch (error) {
      await agent.return({ stopReason: 'cancelled', text: '', usage: {} });
      throw error;
    }
  }
}

/** Events as they stand in storage. */
export function stored(bodies: readonly EventBody[], firstId = 1): AgentEvent[] {
  return bodies.map((body, index) => {
    const stamp = { id: firstId + index, sessionId: 'cli:local:d_1' as AgentEvent['sessionId'], runId: 'run_1' };
    return { ...structuredClone(body), ...stamp, turn: 1, at: 0 };
  });
}

export function userMessage(text = 'question'): EventBody {
  const sender = { id: 'u1', role: 'owner' } as const;
  return { type: 'user-message', messageId: 'm1', text, sent: text, sender, attachments: [] };
}

/** The tool results, as `name state: output`. */
export function results(events: readonly LoopEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === 'tool-result' ? [`${event.name} ${event.state}: ${event.output}`] : [],
  );
}

export function types(events: readonly LoopEvent[]): string[] {
  return events.map((event) => event.type);
}

/**
 * The agent loop: model call, tool calls, model call, until there is nothing left to do or a limit says stop.
 * Every caller starts it in this one way; trouble with model, tools or the signal ends in the result, not in a throw.
 */
import type { StopReason, Usage } from '../protocol/events.js';
import type { ModelMessage } from '../providers/model.js';
import { createToolRegistry } from '../tools/registry.js';
import { assistantMessage, toolMessage } from './conversation.js';
import type { LoopDependencies } from './loop-dependencies.js';
import { createProgressGuard, recordEarlierSteps } from './progress-guard.js';
import type { LoopEvent, RunDescription, RunResult } from './run-description.js';
import { runModelStep } from './run-model-step.js';
import { runToolCalls } from './run-tool-calls.js';

/** After an overflow within one step. */
const maxCompactions = 2;

const contextTooLong = {
  code: 'context_too_long',
  message:
    'The conversation does not fit into what the model can read, and shortening it did not help. Send a shorter ' +
    'message, start a new dialog with /new, or choose a model that reads more and set agent.contextWindow to fit.',
};

/**
 * Yields what happens; the consumer stores each event before it asks for the next one, so an assistant message with its
 * calls is durable before any tool starts. A stop or a model error in mid-text yields the text so far as a message
 * without calls; a run that is to be taken up again must not keep that one, since a message without calls ends a run.
 * `usage` of the result counts this attempt only. Throws for bugs alone.
 */
export async function* runAgent(
  description: RunDescription,
  deps: LoopDependencies,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, RunResult> {
  const { limits } = description;
  const registry = createToolRegistry(description.tools);
  const messages = [...description.messages];
  const usedIds = new Set(messages.flatMap((message) => (message.role === 'tool' ? [message.callId] : [])));
  const guard = createProgressGuard();
  recordEarlierSteps(guard, messages);
  const usage: Usage = {};
  let text = earlierText(messages);
  const end = (stopReason: StopReason, error?: RunResult['error']): RunResult => ({
    stopReason,
    text,
    usage,
    ...(error && { error }),
  });

  // An earlier attempt ended after its answer was stored, before the run's end was.
  if (messages.at(-1)?.role === 'assistant') return end('end_turn');

  for (let step = limits.stepsDone + 1; ; step += 1) {
    if (signal.aborted) return end(stopReasonOf(signal));
    if (guard.isStuck()) return end('no_progress');
    if (step > limits.maxSteps) return end('max_turns');

    if (step > limits.stepsDone + 1) messages.push(...(description.newInput?.() ?? []));
    if (description.isTooLarge?.(messages)) await compactInto(messages, description, 'size', signal);
    let outcome = yield* runModelStep({ description, registry, messages, step, usedIds }, deps, signal);
    for (let attempt = 1; outcome.kind === 'too-large'; attempt += 1) {
      if (!description.compact) return end('model_error', outcome.error);
      const isSmaller = attempt <= maxCompactions && (await compactInto(messages, description, 'overflow', signal));
      if (signal.aborted) return end(stopReasonOf(signal));
      if (!isSmaller) return end('model_error', contextTooLong);
      outcome = yield* runModelStep({ description, registry, messages, step, usedIds }, deps, signal);
    }
    if (outcome.text.trim() !== '') text = outcome.text;
    if (outcome.kind === 'stopped') return end(stopReasonOf(signal));
    if (outcome.kind === 'failed') return end('model_error', outcome.error);
    addUsage(usage, outcome.usage);
    if (outcome.toolCalls.length === 0) return end('end_turn');

    const results = yield* runToolCalls({ description, registry, step, ...outcome }, deps, signal);
    const message = assistantMessage(outcome);
    if (message) messages.push(message, ...results.map(toolMessage));
    guard.record(outcome.toolCalls.map((call, index) => ({ ...call, output: results[index]?.output ?? '' })));
  }
}

/** True when the messages were replaced by fewer or shorter ones. An abort on the way is the caller's to see. */
async function compactInto(
  messages: ModelMessage[],
  { compact }: RunDescription,
  reason: 'size' | 'overflow',
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const compacted = await compact?.(reason, signal);
    if (!compacted) return false;
    messages.splice(0, messages.length, ...compacted);
    return true;
  } catch (error) {
    if (!signal.aborted) throw error;
    return false;
  }
}

/** The newest text of the steps that an earlier attempt finished. */
function earlierText(messages: readonly ModelMessage[]): string {
  const start = messages.findLastIndex((message) => message.role === 'user') + 1;
  const spoken = messages.slice(start).findLast((message) => message.role === 'assistant' && message.text !== '');
  return spoken?.role === 'assistant' ? spoken.text : '';
}

function stopReasonOf(signal: AbortSignal): StopReason {
  return signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError' ? 'timeout' : 'cancelled';
}

/** Unknown stays unknown: a part is there once any call told it. */
function addUsage(total: Usage, part: Usage): void {
  for (const key of ['inputTokens', 'outputTokens', 'cachedInputTokens', 'reasoningTokens'] as const) {
    const value = part[key];
    if (value !== undefined) total[key] = (total[key] ?? 0) + value;
  }
}

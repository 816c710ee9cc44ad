/** One model call: streams it out, then yields the finished message and its usage. */
import type { AssistantToolCall, ReasoningPart, Usage } from '../protocol/events.js';
import type { ModelEndReason, ModelMessage } from '../providers/model.js';
import { ProviderError } from '../providers/provider-error.js';
import { cleanText } from '../tools/clean-text.js';
import type { ToolRegistry } from '../tools/registry.js';
import { fitCalls } from './conversation.js';
import type { LoopDependencies } from './loop-dependencies.js';
import type { LoopEvent, RunDescription } from './run-description.js';
import { untilAborted } from './until-aborted.js';

export interface ModelStep {
  description: RunDescription;
  registry: ToolRegistry;
  messages: readonly ModelMessage[];
  step: number;
  /** Call ids of the conversation so far; grows. */
  usedIds: Set<string>;
}

export type ModelStepOutcome =
  | {
      kind: 'finished';
      text: string;
      reasoning?: ReasoningPart[];
      toolCalls: AssistantToolCall[];
      endReason: ModelEndReason;
      usage: Usage;
    }
  /** The signal aborted. */
  | { kind: 'stopped'; text: string }
  /** The platform refused the request as too large, before any output. */
  | { kind: 'too-large'; text: ''; error: { code: string; message: string } }
  | { kind: 'failed'; text: string; error: { code: string; message: string } };

export async function* runModelStep(
  { description, registry, messages, step, usedIds }: ModelStep,
  deps: LoopDependencies,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, ModelStepOutcome> {
  const request = {
    system: description.system,
    messages: [...messages],
    tools: registry.specs(),
    thinking: description.thinking,
  };
  const calls: AssistantToolCall[] = [];
  let text = '';
  let reasoning: ReasoningPart[] | undefined;
  let hasBegun = false;
  try {
    await deps.checkpoint('before-model-call');
    for await (const event of untilAborted(description.model.stream(request, signal), signal)) {
      switch (event.type) {
        case 'text-delta':
        case 'reasoning-delta':
          if (event.text === '') break;
          if (event.type === 'text-delta') text += event.text;
          yield { type: event.type, step, text: event.text };
          if (!hasBegun) await deps.checkpoint('during-model-call');
          hasBegun = true;
          break;
        case 'reasoning':
          reasoning = event.parts;
          break;
        case 'tool-call': {
          const { type: _type, ...call } = event;
          calls.push(call);
          break;
        }
        case 'retry':
          yield {
            type: 'model-retry',
            model: description.model.id,
            attempt: event.attempt,
            waitMs: event.waitMs,
            reason: event.reason,
          };
          break;
        case 'fallback':
          yield { type: 'model-fallback', from: event.from, to: event.to, reason: event.reason };
          break;
        case 'end': {
          await deps.checkpoint('after-model-call');
          if (event.reason === 'content-filter' && text.trim() === '' && calls.length === 0) {
            throw new ProviderError('content-refused', 'The model refused to answer this. Try other words.');
          }
          const message = {
            text: cleanText(text),
            ...(reasoning && { reasoning }),
            toolCalls: fitCalls(calls, usedIds),
          };
          yield { type: 'assistant-message', step, ...message, deltas: [] };
          yield { type: 'usage', step, model: event.model, usage: event.usage };
          return { kind: 'finished', ...message, endReason: event.reason, usage: event.usage };
        }
      }
    }
    throw new ProviderError('network', "The model's answer broke off before its end. Try again.");
  } catch (error) {
    if (!signal.aborted && !(error instanceof ProviderError)) throw error;
    if (text !== '') {
      text = cleanText(text);
      yield { type: 'assistant-message', step, text, toolCalls: [], deltas: [] };
    }
    if (signal.aborted || !(error instanceof ProviderError)) return { kind: 'stopped', text };
    const { code, message } = error;
    if (error.kind === 'context-too-long' && !hasBegun)
      return { kind: 'too-large', text: '', error: { code, message } };
    return { kind: 'failed', text, error: { code, message } };
  }
}

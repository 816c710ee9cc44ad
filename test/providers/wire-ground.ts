/** A catalog in front of the fake LLM server, and short ways to ask and to look at the answer. */
import { configSchema } from '../../src/config/schema.js';
import type { AssistantToolCall, ReasoningPart, Usage } from '../../src/protocol/events.js';
import { createHttpFetch } from '../../src/providers/http-fetch.js';
import type { Model, ModelEndReason, ModelEvent, ModelMessage, ModelRequest } from '../../src/providers/model.js';
import { createModelCatalog, type ModelCatalogDependencies } from '../../src/providers/model-catalog.js';
import { ProviderError } from '../../src/providers/provider-error.js';
import type { Family } from '../fakes/llm-server/server.mjs';

export const allFamilies: readonly Family[] = ['openai', 'anthropic', 'responses'];

export interface Answer {
  text: string;
  thought: string;
  reasoning: ReasoningPart[];
  calls: AssistantToolCall[];
  reason: ModelEndReason | undefined;
  usage: Usage | undefined;
  events: ModelEvent[];
}

/** Model ids for which the SDK sends what the family can do. */
export const modelIds: Record<Family, string> = {
  openai: 'some-model',
  anthropic: 'claude-sonnet-4-5',
  responses: 'gpt-5',
};

export interface GroundOptions extends Partial<ModelCatalogDependencies> {
  baseUrl: string;
  family: Family;
  stream?: boolean;
  apiKey?: string;
  headers?: Record<string, string>;
}

export function modelFor({
  baseUrl,
  family,
  stream = true,
  apiKey = 'test-key-0123456789',
  headers = {},
  ...deps
}: GroundOptions): Model {
  const config = configSchema.parse({ platforms: { fake: { protocol: family, baseUrl, apiKey, stream, headers } } });
  return catalogFor({ config, ...deps }).resolve(`fake/${modelIds[family]}`);
}

export function catalogFor(deps: Partial<ModelCatalogDependencies>) {
  return createModelCatalog({
    config: configSchema.parse({}),
    environmentKeys: {},
    fetch: createHttpFetch(),
    log: { info: () => {}, warn: () => {} },
    now: () => Date.UTC(2026, 0, 1),
    random: () => 0.5,
    sleep: async () => {},
    ...deps,
  });
}

export function ask(text: string, change: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: 'You are a test.',
    messages: [{ role: 'user', content: [{ type: 'text', text }] }],
    tools: [calculator],
    thinking: 'off',
    ...change,
  };
}

export const calculator = {
  name: 'calculator',
  description: 'Computes.',
  inputSchema: { type: 'object', properties: { expression: { type: 'string' } }, required: ['expression'] },
};

export async function answerOf(
  model: Model,
  request: ModelRequest,
  signal = new AbortController().signal,
): Promise<Answer> {
  const answer: Answer = {
    text: '',
    thought: '',
    reasoning: [],
    calls: [],
    reason: undefined,
    usage: undefined,
    events: [],
  };
  for await (const event of model.stream(request, signal)) {
    answer.events.push(event);
    if (event.type === 'text-delta') answer.text += event.text;
    else if (event.type === 'reasoning-delta') answer.thought += event.text;
    else if (event.type === 'reasoning') answer.reasoning.push(...event.parts);
    else if (event.type === 'tool-call') {
      const { type: _type, ...call } = event;
      answer.calls.push(call);
    } else if (event.type === 'end') Object.assign(answer, { reason: event.reason, usage: event.usage });
  }
  return answer;
}

/** The `ProviderError` that the call ends with, and what came before it. `onEvent` may let the server go on. */
export async function failureOf(
  model: Model,
  request: ModelRequest,
  onEvent: (event: ModelEvent) => void = () => {},
): Promise<{ error: ProviderError; events: ModelEvent[] }> {
  const events: ModelEvent[] = [];
  try {
    for await (const event of model.stream(request, new AbortController().signal)) {
      events.push(event);
      onEvent(event);
    }
  } catch (error) {
    if (error instanceof ProviderError) return { error, events };
    throw error;
  }
  throw new Error(`the call did not fail: ${JSON.stringify(events)}`);
}

/** A promise to be kept by hand. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** The conversation after an answer with calls and the results of its tools. */
export function withResults(messages: ModelMessage[], answer: Answer, outputs: readonly string[]): ModelMessage[] {
  return [
    ...messages,
    {
      role: 'assistant',
      text: answer.text,
      ...(answer.reasoning.length > 0 && { reasoning: answer.reasoning }),
      toolCalls: answer.calls,
    },
    ...answer.calls.map(
      ({ callId, name }, index): ModelMessage => ({
        role: 'tool',
        callId,
        name,
        output: outputs[index] ?? 'done',
        isError: false,
      }),
    ),
  ];
}

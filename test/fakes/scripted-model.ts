/** A model in memory that follows a script, remembers what it was asked, and refuses what real platforms refuse. */
import type { ReasoningPart, Usage } from '../../src/protocol/events.js';
import type { Model, ModelEvent, ModelMessage, ModelRequest } from '../../src/providers/model.js';
import { ProviderError } from '../../src/providers/provider-error.js';
import { families } from './llm-server/families.mjs';

export type ScriptStep =
  | { kind: 'events'; events: ModelEvent[] }
  /** Thrown after `events`. */
  | { kind: 'fail'; error: Error; events: ModelEvent[] }
  /** Waits after `events` until the signal aborts. */
  | { kind: 'hang'; events: ModelEvent[] };

export type Responder = (request: ModelRequest, number: number) => ScriptStep | Promise<ScriptStep>;

export interface ScriptedModel extends Model {
  /** Copies, oldest first; what was refused included. */
  readonly requests: ModelRequest[];
  push(...steps: ScriptStep[]): void;
  /** Resolves once that many requests have come. */
  called(count: number): Promise<void>;
}

const usage: Usage = { inputTokens: 10, outputTokens: 5 };

export function say(text: string, options: { chunks?: string[]; usage?: Usage; reasoning?: string } = {}): ScriptStep {
  const chunks = options.chunks ?? [text];
  return {
    kind: 'events',
    events: [
      ...thought(options.reasoning),
      ...chunks.map((chunk): ModelEvent => ({ type: 'text-delta', text: chunk })),
      { type: 'end', reason: 'stop', usage: options.usage ?? usage, model: 'scripted/model' },
    ],
  };
}

export function callTool(name: string, input: unknown, options: { callId?: string; text?: string } = {}): ScriptStep {
  return callTools([{ name, input, ...(options.callId && { callId: options.callId }) }], options);
}

/** Several calls in one step. Ids are made up when the step is played, so a step may be played again. */
export function callTools(
  calls: { name: string; input: unknown; callId?: string; invalid?: string }[],
  options: { text?: string; reasoning?: string } = {},
): ScriptStep {
  return {
    kind: 'events',
    events: [
      ...thought(options.reasoning),
      ...(options.text ? [{ type: 'text-delta', text: options.text } as const] : []),
      ...calls.map((call): ModelEvent => ({ type: 'tool-call', callId: '', ...call })),
      { type: 'end', reason: 'tool-calls', usage, model: 'scripted/model' },
    ],
  };
}

export function fail(error: Error, events: ModelEvent[] = []): ScriptStep {
  return { kind: 'fail', error, events };
}

export function hang(events: ModelEvent[] = []): ScriptStep {
  return { kind: 'hang', events };
}

/** A list is played from the front and must be long enough; a function answers for ever. */
export function scriptedModel(script: readonly ScriptStep[] | Responder, options: { id?: string } = {}): ScriptedModel {
  const queue = typeof script === 'function' ? [] : [...script];
  const requests: ModelRequest[] = [];
  const waiters: { count: number; resolve: () => void }[] = [];
  return {
    id: options.id ?? 'scripted/model',
    requests,
    push: (...steps) => void queue.push(...steps),
    called: (count) =>
      new Promise((resolve) => {
        if (requests.length >= count) resolve();
        else waiters.push({ count, resolve });
      }),
    async *stream(request, signal) {
      signal.throwIfAborted();
      requests.push(structuredClone(request));
      const number = requests.length;
      for (const waiter of waiters) if (number >= waiter.count) waiter.resolve();
      const complaint = complaintAbout(request);
      if (complaint) throw new ProviderError('bad-request', `refused (HTTP 400): ${complaint}`, { status: 400 });
      const step = typeof script === 'function' ? await script(request, number) : queue.shift();
      if (!step) throw new Error(`the script has no step for request ${number}`);
      for (const [index, event] of step.events.entries()) {
        signal.throwIfAborted();
        const needsId = event.type === 'tool-call' && event.callId === '';
        yield needsId ? { ...event, callId: `call_${number}_${index + 1}` } : event;
      }
      if (step.kind === 'fail') throw step.error;
      if (step.kind === 'hang') await aborted(signal);
      signal.throwIfAborted();
    },
  };
}

/** What any of the real platforms would refuse about the request. */
export function complaintAbout(request: ModelRequest): string | undefined {
  const { messages, tools } = request;
  const system = request.system === '' ? [] : [{ role: 'system', content: request.system }];
  const chat = {
    model: 'scripted',
    messages: [...system, ...messages.map(toChatMessage)],
    ...(tools.length > 0 && {
      tools: tools.map(({ name, inputSchema }) => ({ type: 'function', function: { name, parameters: inputSchema } })),
    }),
  };
  const anthropic = {
    model: 'scripted',
    max_tokens: 1,
    ...(request.system !== '' && { system: request.system }),
    messages: messages.map(toAnthropicMessage),
    ...(tools.length > 0 && { tools: tools.map(({ name, inputSchema }) => ({ name, input_schema: inputSchema })) }),
  };
  return families.openai.validate(chat) ?? families.anthropic.validate(anthropic, { signatures: false });
}

function toChatMessage(message: ModelMessage) {
  switch (message.role) {
    case 'user':
      return {
        role: 'user',
        content: message.content.map((part) =>
          part.type === 'text' ? part : { type: 'image_url', image_url: { url: part.dataUrl } },
        ),
      };
    case 'assistant':
      return {
        role: 'assistant',
        content: message.text,
        ...(message.toolCalls.length > 0 && {
          tool_calls: message.toolCalls.map(({ callId, name, input }) => ({
            id: callId,
            type: 'function',
            function: { name, arguments: JSON.stringify(typeof input === 'object' ? input : { unparsed: input }) },
          })),
        }),
      };
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.output };
  }
}

function toAnthropicMessage(message: ModelMessage) {
  switch (message.role) {
    case 'user':
      return {
        role: 'user',
        content: message.content.map((part) => (part.type === 'text' ? part : { type: 'image', source: part.dataUrl })),
      };
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...(message.text === '' ? [] : [{ type: 'text', text: message.text }]),
          ...message.toolCalls.map(({ callId, name, input }) => ({
            type: 'tool_use',
            id: callId.replace(/[^a-zA-Z0-9_-]/g, '_'),
            name,
            input: typeof input === 'object' ? input : { unparsed: input },
          })),
        ],
      };
    case 'tool':
      return {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: message.callId.replace(/[^a-zA-Z0-9_-]/g, '_'),
            content: [{ type: 'text', text: message.output }],
          },
        ],
      };
  }
}

function thought(text: string | undefined): ModelEvent[] {
  if (!text) return [];
  const parts: ReasoningPart[] = [{ text }];
  return [
    { type: 'reasoning-delta', text },
    { type: 'reasoning', parts },
  ];
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/**
 * Our conversation as the SDK's prompt. The same conversation always gives the same bytes, and one more message only
 * adds to the end, so that the platforms' prompt caches hit.
 */
import type { LanguageModelV3FunctionTool, LanguageModelV3Message, LanguageModelV3Prompt } from '@ai-sdk/provider';
import type { AssistantToolCall, ReasoningPart } from '../protocol/events.js';
import type { ModelMessage, ModelRequest, UserPart } from './model.js';
import { readReasoningOrigin } from './reasoning-origin.js';
import { wireCallIds } from './wire-call-ids.js';
import type { WireFamily } from './wire-types.js';

export interface ToWireOptions {
  family: WireFamily;
  platformId: string;
  /**
   * Chat completions: whether tool-call messages carry `reasoning_content`: `own` where this platform gave some,
   * `always` with a blank where it did not, `never`. Elsewhere: `never` or own.
   */
  reasoningEcho: 'own' | 'always' | 'never';
  /** Anthropic: mark the system prompt (and the tools before it) for the prompt cache. */
  cacheSystem: boolean;
}

type AssistantContent = Extract<LanguageModelV3Message, { role: 'assistant' }>['content'];
type ProviderOptions = NonNullable<LanguageModelV3Message['providerOptions']>;

export function toPrompt(request: ModelRequest, options: ToWireOptions): LanguageModelV3Prompt {
  const prompt: LanguageModelV3Prompt = [];
  if (request.system !== '') {
    prompt.push({
      role: 'system',
      content: request.system,
      ...(options.cacheSystem && { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } }),
    });
  }
  const idOf = wireCallIds(options.family);
  for (const message of request.messages) {
    const converted = toMessage(message, idOf, options);
    if (converted) prompt.push(converted);
  }
  return prompt;
}

export function toTools(request: ModelRequest): LanguageModelV3FunctionTool[] | undefined {
  if (request.tools.length === 0) return undefined;
  return request.tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    name,
    description,
    inputSchema,
  }));
}

function toMessage(
  message: ModelMessage,
  idOf: ReturnType<typeof wireCallIds>,
  options: ToWireOptions,
): LanguageModelV3Message | undefined {
  switch (message.role) {
    case 'user': {
      const content = message.content.filter((part) => part.type !== 'text' || part.text !== '').map(toUserPart);
      return content.length > 0 ? { role: 'user', content } : undefined;
    }
    case 'assistant': {
      const content: AssistantContent = reasoningContent(message, options);
      if (message.text !== '') content.push({ type: 'text', text: message.text });
      for (const call of message.toolCalls) {
        const signature = callSignature(message.reasoning, call, options);
        content.push({
          type: 'tool-call',
          toolCallId: idOf.call(call.callId),
          toolName: call.name,
          input: argumentObject(call),
          ...(signature && { providerOptions: signature }),
        });
      }
      const hasContent = message.text !== '' || message.toolCalls.length > 0;
      return hasContent ? { role: 'assistant', content } : undefined;
    }
    case 'tool':
      return {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: idOf.result(message.callId),
            toolName: message.name,
            output: { type: message.isError ? 'error-text' : 'text', value: message.output || '(no output)' },
          },
        ],
      };
  }
}

function toUserPart(part: UserPart) {
  if (part.type === 'text') return { type: 'text' as const, text: part.text };
  const data = part.dataUrl.startsWith('data:') ? part.dataUrl.slice(part.dataUrl.indexOf(',') + 1) : undefined;
  return { type: 'file' as const, mediaType: part.mimeType, data: data ?? new URL(part.dataUrl) };
}

/** Platforms want an object; what could not be parsed goes back under a name that says so. */
function argumentObject({ input }: AssistantToolCall): unknown {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  return isObject ? input : { unparsed: input ?? '' };
}

/**
 * Reasoning goes back only to the platform that gave it, unchanged. Chat completions want it beside tool calls only:
 * some refuse it in plain answers, others refuse tool calls that lack it.
 */
function reasoningContent(
  message: Extract<ModelMessage, { role: 'assistant' }>,
  { family, platformId, reasoningEcho }: ToWireOptions,
): AssistantContent {
  if (reasoningEcho === 'never') return [];
  const own = (message.reasoning ?? []).flatMap((part) => {
    const origin = readReasoningOrigin(part);
    return origin?.family === family && origin.platform === platformId ? [{ part, origin }] : [];
  });
  if (family === 'openai') {
    if (message.toolCalls.length === 0) return [];
    const text = own.map(({ part }) => part.text).join('');
    const shown = text === '' && reasoningEcho === 'always' ? ' ' : text;
    return shown === '' ? [] : [{ type: 'reasoning', text: shown }];
  }
  return own
    .filter(({ origin }) => origin.isReplayable)
    .map(({ part, origin }) => ({
      type: 'reasoning',
      text: part.text,
      providerOptions: origin.wire as ProviderOptions,
    }));
}

/** Gemini signs its calls and wants the signature back beside them. */
function callSignature(
  reasoning: ReasoningPart[] | undefined,
  call: AssistantToolCall,
  { family, platformId }: ToWireOptions,
): ProviderOptions | undefined {
  if (family !== 'openai') return undefined;
  for (const part of reasoning ?? []) {
    const origin = readReasoningOrigin(part);
    if (origin?.callId === call.callId && origin.platform === platformId) return origin.wire as ProviderOptions;
  }
  return undefined;
}

/** Gathers what must be complete before it is told: reasoning blocks, tool calls, the end. */
import type { LanguageModelV3StreamPart, LanguageModelV3Usage, SharedV3ProviderMetadata } from '@ai-sdk/provider';
import type { AssistantToolCall, ReasoningPart, Usage } from '../protocol/events.js';
import { type ReasoningOrigin, withOrigin } from './reasoning-origin.js';
import type { WireFamily } from './wire-types.js';

type ToolCallPart = Extract<LanguageModelV3StreamPart, { type: 'tool-call' }>;
type Wire = NonNullable<ReasoningOrigin['wire']>;

export class StepCollector {
  readonly calls: AssistantToolCall[] = [];
  readonly #origin: { family: WireFamily; platform: string };
  readonly #blocks = new Map<string, { text: string; wire: Wire }>();
  readonly #signatures: ReasoningPart[] = [];

  constructor(family: WireFamily, platform: string) {
    this.#origin = { family, platform };
  }

  addReasoning(id: string, text: string, metadata: SharedV3ProviderMetadata | undefined): void {
    let block = this.#blocks.get(id);
    if (!block) {
      block = { text: '', wire: {} };
      this.#blocks.set(id, block);
    }
    block.text += text;
    for (const [provider, values] of Object.entries(metadata ?? {})) {
      const known = Object.entries(values).filter(([, value]) => value !== null && value !== undefined);
      if (known.length > 0) block.wire[provider] = { ...block.wire[provider], ...Object.fromEntries(known) };
    }
  }

  addCall({ toolCallId, toolName, input, providerMetadata }: ToolCallPart): void {
    this.calls.push({ callId: toolCallId, name: toolName, ...parseArguments(input) });
    const thoughtSignature = providerMetadata?.openaiCompatible?.thoughtSignature;
    if (typeof thoughtSignature === 'string') {
      const wire = { google: { thoughtSignature } };
      this.#signatures.push(withOrigin('', { ...this.#origin, wire, callId: toolCallId }));
    }
  }

  /** Blocks that hold something, in order. */
  reasoning(): ReasoningPart[] {
    const parts: ReasoningPart[] = [];
    for (const { text, wire } of this.#blocks.values()) {
      const hasWire = Object.keys(wire).length > 0;
      if (text !== '' || hasWire) parts.push(withOrigin(text, { ...this.#origin, ...(hasWire && { wire }) }));
    }
    return [...parts, ...this.#signatures];
  }
}

/** Nothing means `{}`; text that holds JSON is read once more; all else that is no object is invalid. */
export function parseArguments(text: string): { input: unknown; invalid?: string } {
  if (text.trim() === '') return { input: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
    if (typeof value === 'string') value = value.trim() === '' ? {} : JSON.parse(value);
  } catch (error) {
    return { input: text, invalid: `the arguments are not valid JSON: ${(error as Error).message}` };
  }
  if (value === null) return { input: {} };
  if (typeof value === 'object' && !Array.isArray(value)) return { input: value };
  return { input: text, invalid: 'the arguments are not a JSON object' };
}

/** Only what the platform said. The messages wire has no "unknown", but no request has 0 input tokens. */
export function toUsage(usage: LanguageModelV3Usage, family: WireFamily): Usage {
  const { inputTokens, outputTokens } = usage;
  if (family === 'anthropic' && !inputTokens.total) {
    return outputTokens.total ? { outputTokens: outputTokens.total } : {};
  }
  return {
    ...(inputTokens.total !== undefined && { inputTokens: inputTokens.total }),
    ...(outputTokens.total !== undefined && { outputTokens: outputTokens.total }),
    ...(inputTokens.cacheRead !== undefined && { cachedInputTokens: inputTokens.cacheRead }),
    ...(outputTokens.reasoning !== undefined && { reasoningTokens: outputTokens.reasoning }),
  };
}

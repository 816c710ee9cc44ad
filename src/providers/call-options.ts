/** What a call needs beside the conversation: thinking, caching and the like, in each family's words. */
import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';
import type { LearnedLimits } from './learned-limits.js';
import type { ModelRequest } from './model.js';
import type { Platform } from './platforms.js';
import { readReasoningOrigin } from './reasoning-origin.js';
import type { WireFamily } from './wire-types.js';

export interface CallOptionsContext {
  family: WireFamily;
  platformId: string;
  /** The model id as the platform knows it. */
  modelId: string;
  thinking: Platform['thinking'];
  limits: LearnedLimits;
}

type Options = Pick<LanguageModelV3CallOptions, 'maxOutputTokens' | 'temperature' | 'providerOptions'>;
type JsonObject = NonNullable<LanguageModelV3CallOptions['providerOptions']>[string];

/** Anthropic counts thinking in tokens. */
const thinkingBudgets = { low: 2048, medium: 8192, high: 16_384 };
/** Anthropic's protocol demands a limit; the SDK knows that of Claude models only. */
const defaultMaxOutputTokens = 8192;

export function callOptions(request: ModelRequest, context: CallOptionsContext): Options {
  const isClaude = context.modelId.includes('claude-');
  const needsLimit = context.family === 'anthropic' && !isClaude;
  const maxOutputTokens = request.maxOutputTokens ?? (needsLimit ? defaultMaxOutputTokens : undefined);
  return {
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(request.temperature !== undefined && { temperature: request.temperature }),
    providerOptions: providerOptions(request, context),
  };
}

function providerOptions(request: ModelRequest, context: CallOptionsContext): Record<string, JsonObject> {
  const { limits, thinking } = context;
  const level = request.thinking;
  switch (context.family) {
    case 'openai': {
      if (!limits.thinkingSwitch) return {};
      if (level === 'off') return thinking?.off ? { openaiCompatible: thinking.off as JsonObject } : {};
      return { openaiCompatible: (thinking?.on ?? { reasoningEffort: level }) as JsonObject };
    }
    case 'anthropic': {
      const budget = level === 'off' || !canThink(request, context) ? undefined : thinkingBudgets[level];
      const shown: JsonObject | undefined = budget
        ? { thinking: { type: 'enabled', budgetTokens: budget } }
        : context.modelId.includes('claude-')
          ? { thinking: { type: 'disabled' } }
          : undefined;
      return {
        anthropic: {
          // Tools look the same whether the answer is streamed or not, so the cached prefix fits both.
          toolStreaming: false,
          ...(limits.thinkingSwitch && shown),
          ...(limits.cacheControl && { cacheControl: { type: 'ephemeral' } }),
        },
      };
    }
    case 'responses':
      return {
        openai: {
          // The conversation is ours: nothing is stored at the platform, reasoning comes back encrypted.
          store: false,
          ...(limits.thinkingSwitch && level !== 'off' && { forceReasoning: true, reasoningEffort: level }),
        },
      };
  }
}

/**
 * With thinking on, Anthropic demands that the tool calls of the running turn begin with their thinking. Calls made
 * by another platform, or before thinking was switched on, have none: this turn then goes on without.
 */
function canThink({ messages }: ModelRequest, { platformId, limits }: CallOptionsContext): boolean {
  const start = messages.findLastIndex((message) => message.role === 'user');
  return messages.slice(start + 1).every((message) => {
    if (message.role !== 'assistant' || message.toolCalls.length === 0) return true;
    if (limits.reasoningEcho === 'never') return false;
    return (message.reasoning ?? []).some((part) => {
      const origin = readReasoningOrigin(part);
      return origin?.family === 'anthropic' && origin.platform === platformId && origin.isReplayable;
    });
  });
}

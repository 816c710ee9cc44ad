/** Builds the SDK's model objects. The packages are imported at the first need: an idle daemon does not carry them. */
import type { LanguageModelV3 } from '@ai-sdk/provider';
import type { LearnedLimits } from './learned-limits.js';
import type { createWireFetch } from './wire-fetch.js';
import type { WireFamily } from './wire-types.js';

export interface SdkModelOptions {
  family: WireFamily;
  /** As the platform knows it. */
  modelId: string;
  /** Without a slash at the end. */
  base: string;
  /** Undefined: the server wants none. */
  apiKey: string | undefined;
  headers: Record<string, string>;
  fetch: ReturnType<typeof createWireFetch>;
  limits: LearnedLimits;
}

/** Sent where the SDK insists on a key and the server wants none. */
const noKey = 'none';

export async function createSdkModel(options: SdkModelOptions): Promise<LanguageModelV3> {
  const { family, modelId, base, apiKey, headers } = options;
  // Our response has the members that the SDK reads, without the cost of a real one.
  const fetch = options.fetch as unknown as typeof globalThis.fetch;
  switch (family) {
    case 'openai': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const settings = { name: 'openaiCompatible', baseURL: base, headers, fetch, includeUsage: true };
      return createOpenAICompatible({
        ...settings,
        ...(apiKey !== undefined && { apiKey }),
        transformRequestBody: (body) => prefixFirst(body, options.limits),
      }).chatModel(modelId);
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ baseURL: base, apiKey: apiKey ?? noKey, headers, fetch }).messages(modelId);
    }
    case 'responses': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return createOpenAI({ baseURL: base, apiKey: apiKey ?? noKey, headers, fetch }).responses(modelId);
    }
  }
}

/** Loads the package of one family, so that the first call does not wait for it. */
export async function warmFamily(family: WireFamily): Promise<void> {
  if (family === 'openai') await import('@ai-sdk/openai-compatible');
  else if (family === 'anthropic') await import('@ai-sdk/anthropic');
  else await import('@ai-sdk/openai');
}

/** What never changes goes before the growing list of messages: the body's bytes then only grow at the end. */
function prefixFirst(body: Record<string, unknown>, limits: LearnedLimits): Record<string, unknown> {
  const { messages, stream_options, ...rest } = body;
  return { ...rest, ...(limits.streamOptions && { stream_options }), messages };
}

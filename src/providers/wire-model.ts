/** One model behind one wire: our request in, the SDK's parts out as our events. Tries once; see retry.ts. */
import type {
  LanguageModelV3,
  LanguageModelV3Content,
  LanguageModelV3GenerateResult,
  LanguageModelV3StreamPart,
} from '@ai-sdk/provider';
import { callOptions } from './call-options.js';
import type { WireErrors } from './errors.js';
import { type LearnedLimits, learnFrom, noLimitsYet } from './learned-limits.js';
import type { Model, ModelEndReason, ModelEvent, ModelRequest } from './model.js';
import type { Platform } from './platforms.js';
import { StepCollector, toUsage } from './step-collector.js';
import { toPrompt, toTools } from './to-wire.js';
import type { WireFamily } from './wire-types.js';

export interface WireModelOptions {
  /** `platform/model`. */
  id: string;
  platformId: string;
  modelId: string;
  family: WireFamily;
  thinking?: Platform['thinking'];
  isStreaming: boolean;
  errors: WireErrors;
  /** Called once, at the first request. */
  createSdkModel: (limits: LearnedLimits) => Promise<LanguageModelV3>;
}

/** One part at a time, from a stream or from a whole answer. */
interface PartReader {
  read(): Promise<{ done: boolean; value?: LanguageModelV3StreamPart | undefined }>;
  cancel(): Promise<void>;
}

type Finish = Extract<LanguageModelV3StreamPart, { type: 'finish' }>;

/** How often one call is sent again because a part of it was refused and can be left out. */
const maxLessons = 3;

export function createWireModel(options: WireModelOptions): Model {
  const { id, family, platformId, modelId, errors } = options;
  const limits = noLimitsYet();
  let sdkModel: Promise<LanguageModelV3> | undefined;

  function sdkOptions(request: ModelRequest, signal: AbortSignal) {
    const context = { family, platformId, modelId, thinking: options.thinking, limits };
    const tools = toTools(request);
    return {
      ...callOptions(request, context),
      prompt: toPrompt(request, {
        family,
        platformId,
        reasoningEcho: limits.reasoningEcho,
        cacheSystem: family === 'anthropic' && limits.cacheControl,
      }),
      ...(tools && { tools }),
      abortSignal: signal,
    };
  }

  async function open(request: ModelRequest, signal: AbortSignal): Promise<PartReader> {
    sdkModel ??= options.createSdkModel(limits);
    const model = await sdkModel;
    if (options.isStreaming) return (await model.doStream(sdkOptions(request, signal))).stream.getReader();
    return readerOf(await model.doGenerate(sdkOptions(request, signal)));
  }

  async function* once(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const step = new StepCollector(family, platformId);
    const reader = await open(request, signal);
    let finish: Finish | undefined;
    let isOver = false;
    try {
      for (;;) {
        const { done, value: part } = await reader.read();
        // What had arrived before the abort is not told after it.
        signal.throwIfAborted();
        if (done || !part) break;
        switch (part.type) {
          case 'text-delta':
            if (part.delta !== '') yield { type: 'text-delta', text: part.delta };
            break;
          case 'reasoning-start':
          case 'reasoning-delta':
          case 'reasoning-end': {
            const text = part.type === 'reasoning-delta' ? part.delta : '';
            step.addReasoning(part.id, text, part.providerMetadata);
            if (text !== '') yield { type: 'reasoning-delta', text };
            break;
          }
          case 'tool-call':
            step.addCall(part);
            break;
          case 'error':
            throwUnlessCut(part.error, errors);
            break;
          case 'finish':
            finish = part;
            break;
        }
      }
      isOver = true;
    } finally {
      if (!isOver) reader.cancel().catch(() => {});
    }
    const end = finish && endReason(finish, family, step.calls.length > 0);
    if (!finish || !end) throw errors.of('network', 'The answer was cut off before its end.');
    const reasoning = step.reasoning();
    if (reasoning.length > 0) yield { type: 'reasoning', parts: reasoning };
    for (const call of step.calls) yield { type: 'tool-call', ...call };
    yield { type: 'end', reason: end, usage: toUsage(finish.usage, family), model: id };
  }

  return {
    id,
    async *stream(request, signal) {
      signal.throwIfAborted();
      for (let lessons = 0; ; lessons++) {
        let hasBegun = false;
        try {
          for await (const event of once(request, signal)) {
            hasBegun = true;
            yield event;
          }
          return;
        } catch (error) {
          if (signal.aborted) throw signal.reason;
          const failure = errors.ofThrown(error);
          if (hasBegun || lessons === maxLessons || !learnFrom(failure, limits)) throw failure;
        }
      }
    },
  };
}

/** The SDK's complaint about a missing end is left to the end itself; every other error part is one. */
function throwUnlessCut(error: unknown, errors: WireErrors): void {
  if (!(error instanceof Error)) {
    throw errors.ofPayload({ error }) ?? errors.of('bad-request', 'The platform reported an error without a reason.');
  }
  if (error.name === 'AI_InvalidResponseDataError' && /finish reason/.test(error.message)) return;
  throw errors.ofThrown(error);
}

/** Undefined: the end never came. Presence decides about calls, whatever the platform gave as its reason. */
function endReason({ finishReason }: Finish, family: WireFamily, hasCalls: boolean): ModelEndReason | undefined {
  const { unified, raw } = finishReason;
  if (raw === 'error' || raw === 'network_error') return undefined;
  const hasReason = raw !== undefined || (family === 'responses' && unified !== 'other');
  if (!hasReason || unified === 'error') return undefined;
  if (hasCalls) return 'tool-calls';
  // Announced calls that never came: the text, if any, is all there is.
  return unified === 'tool-calls' ? 'stop' : unified;
}

function readerOf({ content, finishReason, usage }: LanguageModelV3GenerateResult): PartReader {
  const parts = content.flatMap((item, index) => asParts(item, String(index)));
  parts.push({ type: 'finish', finishReason, usage });
  return {
    async read() {
      const value = parts.shift();
      return value ? { done: false, value } : { done: true };
    },
    cancel: async () => {},
  };
}

function asParts(item: LanguageModelV3Content, id: string): LanguageModelV3StreamPart[] {
  if (item.type === 'text') return [{ type: 'text-delta', id, delta: item.text }];
  if (item.type === 'tool-call') return [item];
  if (item.type !== 'reasoning') return [];
  const { text, providerMetadata } = item;
  return [{ type: 'reasoning-delta', id, delta: text, ...(providerMetadata && { providerMetadata }) }];
}

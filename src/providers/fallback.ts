/** A chain of models: the next one answers when one cannot. Only before output, and only where another may do better. */
import type { Logger } from '../observability/log.js';
import type { Model } from './model.js';
import { ProviderError, type ProviderErrorKind } from './provider-error.js';

/** Too long a conversation is compacted instead; what one platform refuses to say is not asked elsewhere. */
const final: ReadonlySet<ProviderErrorKind> = new Set(['context-too-long', 'content-refused']);

export function withFallback(models: readonly [Model, ...Model[]], { log }: { log: Pick<Logger, 'warn'> }): Model {
  const [first] = models;
  if (models.length === 1) return first;
  return {
    id: first.id,
    async *stream(request, signal) {
      for (const [index, model] of models.entries()) {
        const next = models[index + 1];
        let hasOutput = false;
        try {
          for await (const event of model.stream(request, signal)) {
            if (event.type !== 'retry') hasOutput = true;
            yield event;
          }
          return;
        } catch (error) {
          const isFinal = !(error instanceof ProviderError) || final.has(error.kind);
          if (!next || hasOutput || isFinal || signal.aborted) throw error;
          log.warn({ from: model.id, to: next.id, code: error.code, status: error.status }, 'model fallback');
          yield { type: 'fallback', from: model.id, to: next.id, reason: error.message };
        }
      }
    },
  };
}

/** From a reference (`platform/model`) to a model that can be called: keys, addresses, retries, fallbacks. */
import { setTimeout as wait } from 'node:timers/promises';
import { createRedactor } from '../config/redact.js';
import type { Config } from '../config/schema.js';
import { nearest } from '../config/suggest.js';
import type { Logger } from '../observability/log.js';
import { UserError } from '../protocol/errors.js';
import { readBaseUrl } from './base-url.js';
import { createDemoModel, demoReference } from './demo/demo-model.js';
import { createWireErrors } from './errors.js';
import { withFallback } from './fallback.js';
import { chatFrameRules } from './frames/chat-frames.js';
import type { FrameRules } from './frames/frame-rules.js';
import { messageFrameRules } from './frames/message-frames.js';
import { responseFrameRules } from './frames/response-frames.js';
import type { Model } from './model.js';
import { type Platform, platforms } from './platforms.js';
import { withRetry } from './retry.js';
import { createSdkModel, warmFamily } from './sdk-families.js';
import { createWireFetch } from './wire-fetch.js';
import { createWireModel } from './wire-model.js';
import type { WireFamily, WireFetch } from './wire-types.js';

export interface ModelCatalog {
  /**
   * `platform/model`, or a platform alone for its default model. The same reference gives the same object.
   * Throws `UserError`: `model_unknown`, `platform_unknown`, `platform_without_key`.
   */
  resolve(reference: string): Model;
  /** `agent.model`, else the first platform with a key, else the demo model. Never throws. */
  defaultReference(): string;
  /** The default model with `agent.fallbacks` behind it. Throws as `resolve` does for the default one. */
  main(): Model;
  /** What can be used now, the default first. */
  list(): { id: string; platform: string; name: string }[];
  /** Loads what the default model's first call would have to load, about 70 ms and 17 MB. */
  warm(): Promise<void>;
}

export interface ModelCatalogDependencies {
  config: Pick<Config, 'agent' | 'platforms'>;
  /** Environment variables by name; only the platforms' key variables are looked at. */
  environmentKeys: Readonly<Record<string, string | undefined>>;
  /** `createHttpFetch()`, or any `fetch`. */
  fetch: WireFetch;
  log: Pick<Logger, 'info' | 'warn'>;
  /** ms since the epoch. */
  now: () => number;
  /** From 0 to below 1. */
  random: () => number;
  /** Rejects when the signal aborts. Default: a timer. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Longest silence of a platform; default 120 s between bytes, 600 s for a whole answer that is not streamed. */
  silenceTimeoutMs?: number;
}

const frameRules: Record<WireFamily, () => FrameRules> = {
  openai: chatFrameRules,
  anthropic: messageFrameRules,
  responses: responseFrameRules,
};

interface UsablePlatform extends Platform {
  apiKey: string | undefined;
  headers: Record<string, string>;
  isStreaming: boolean;
}

export function createModelCatalog(deps: ModelCatalogDependencies): ModelCatalog {
  const { config, environmentKeys, log } = deps;
  const sleep = deps.sleep ?? ((ms: number, signal: AbortSignal) => wait(ms, undefined, { signal }));
  const models = new Map<string, Model>();
  let main: Model | undefined;

  const keyOf = (id: string, row: Platform | undefined) =>
    config.platforms[id]?.apiKey || row?.keyVariables.map((name) => environmentKeys[name]).find(Boolean) || undefined;

  /** Throws `UserError` unless the platform can be called. */
  function platformOf(id: string): UsablePlatform {
    const own = config.platforms[id];
    const row = platforms.find((platform) => platform.id === id);
    const baseUrl = own?.baseUrl ?? row?.baseUrl;
    if (!baseUrl) throw unknownPlatform(id, own !== undefined, Object.keys(config.platforms));
    const key = keyOf(id, row);
    // A server at another address may well want none.
    if (!key && row && row.keyVariables.length > 0 && !own?.baseUrl) throw withoutKey(row);
    return {
      id,
      name: row?.name ?? id,
      protocol: own?.protocol ?? row?.protocol ?? 'openai',
      baseUrl,
      keyVariables: row?.keyVariables ?? [],
      defaultModel: own?.models[0] ?? row?.defaultModel ?? '',
      models: [...new Set([...(own?.models ?? []), ...(row?.models ?? [])])],
      ...(row?.thinking && { thinking: row.thinking }),
      apiKey: key === 'none' ? undefined : key,
      headers: own?.headers ?? {},
      isStreaming: own?.stream ?? true,
    };
  }

  function build(platform: UsablePlatform, modelId: string): Model {
    const { protocol: family, apiKey, headers, isStreaming } = platform;
    const id = `${platform.id}/${modelId}`;
    const { base, query, host } = readBaseUrl(platform.baseUrl, family);
    const errors = createWireErrors({
      reference: id,
      platformId: platform.id,
      platformName: platform.name,
      host,
      keyVariables: platform.keyVariables,
      redact: createRedactor([...(apiKey ? [apiKey] : []), ...Object.values(headers)]),
      now: deps.now,
    });
    const fetch = createWireFetch({
      fetch: deps.fetch,
      frameRules: frameRules[family],
      errors,
      isStreaming,
      query,
      silenceTimeoutMs: deps.silenceTimeoutMs ?? (isStreaming ? 120_000 : 600_000),
    });
    const model = createWireModel({
      id,
      platformId: platform.id,
      modelId,
      family,
      thinking: platform.thinking,
      isStreaming,
      errors,
      createSdkModel: (limits) => createSdkModel({ family, modelId, base, apiKey, headers, fetch, limits }),
    });
    return withRetry(model, { random: deps.random, sleep, log });
  }

  function read(reference: string): { platform: UsablePlatform; modelId: string } {
    const slash = reference.indexOf('/');
    const id = slash === -1 ? reference : reference.slice(0, slash);
    const isPlatform = id in config.platforms || platforms.some((platform) => platform.id === id);
    if (slash === -1 && !isPlatform) throw unknownModel(reference);
    const platform = platformOf(id);
    const modelId = slash === -1 ? platform.defaultModel : reference.slice(slash + 1);
    if (modelId === '') throw unknownModel(reference, platform);
    return { platform, modelId };
  }

  function resolve(reference: string): Model {
    let model = models.get(reference);
    if (!model) {
      if (reference === demoReference || reference === 'demo') model = createDemoModel();
      else {
        const { platform, modelId } = read(reference);
        model = models.get(`${platform.id}/${modelId}`) ?? build(platform, modelId);
      }
      models.set(reference, model);
      models.set(model.id, model);
    }
    return model;
  }

  function defaultReference(): string {
    if (config.agent.model !== '') return config.agent.model;
    const configured = Object.keys(config.platforms);
    const candidates = new Set([...configured, ...platforms.map(({ id }) => id)]);
    for (const id of candidates) {
      const row = platforms.find((platform) => platform.id === id);
      const isChosen = keyOf(id, row) !== undefined || (configured.includes(id) && isUsable(id));
      const modelId = isChosen && (config.platforms[id]?.models[0] ?? row?.defaultModel);
      if (modelId) return `${id}/${modelId}`;
    }
    return demoReference;
  }

  function isUsable(id: string): boolean {
    try {
      platformOf(id);
      return true;
    } catch {
      return false;
    }
  }

  function fallbacks(first: Model): Model[] {
    const chain = new Map([[first.id, first]]);
    for (const reference of config.agent.fallbacks) {
      try {
        const model = resolve(reference);
        chain.set(model.id, chain.get(model.id) ?? model);
      } catch (error) {
        log.warn({ reference, err: error }, 'fallback model left out');
      }
    }
    return [...chain.values()].slice(1);
  }

  return {
    resolve,
    defaultReference,
    main() {
      if (!main) {
        const first = resolve(defaultReference());
        main = withFallback([first, ...fallbacks(first)], { log });
      }
      return main;
    },
    list() {
      const ids = new Set([defaultReference(), ...config.agent.fallbacks].filter((id) => id.includes('/')));
      for (const id of new Set([...Object.keys(config.platforms), ...platforms.map((platform) => platform.id)])) {
        const row = platforms.find((platform) => platform.id === id);
        if (!(id in config.platforms) && keyOf(id, row) === undefined) continue;
        if (isUsable(id)) for (const name of platformOf(id).models) ids.add(`${id}/${name}`);
      }
      ids.add(demoReference);
      return [...ids].map((id) => {
        const slash = id.indexOf('/');
        return { id, platform: id.slice(0, slash), name: id.slice(slash + 1) };
      });
    },
    async warm() {
      const reference = defaultReference();
      if (resolve(reference).id !== demoReference) await warmFamily(read(reference).platform.protocol);
    },
  };
}

function unknownPlatform(id: string, isConfigured: boolean, configured: readonly string[]): UserError {
  if (isConfigured) {
    return new UserError(
      'platform_unknown',
      `The platform "${id}" is not built in: set platforms.${id}.baseUrl (and protocol) in the configuration.`,
    );
  }
  const names = [...new Set([...configured, ...platforms.map((platform) => platform.id), 'demo'])];
  const near = nearest(id, names);
  return new UserError(
    'platform_unknown',
    `There is no platform "${id}". ${near ? `Did you mean "${near}"? ` : ''}Known: ${names.join(', ')}. Any other server: set platforms.${id}.baseUrl.`,
  );
}

function withoutKey({ id, name, keyVariables }: Platform): UserError {
  return new UserError(
    'platform_without_key',
    `${name} has no key. Put ${keyVariables[0]} into the environment or into .env, or set platforms.${id}.apiKey.`,
  );
}

function unknownModel(reference: string, platform?: Platform): UserError {
  const example = platform?.models[0] ?? 'model';
  return new UserError(
    'model_unknown',
    platform
      ? `The platform "${platform.id}" has no default model. Name one: "${platform.id}/${example}".`
      : `"${reference}" names no model. Write platform/model, for example "deepseek/deepseek-flash" or "demo/demo".`,
  );
}

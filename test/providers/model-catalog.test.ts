import { describe, expect, test } from 'vitest';
import { type Config, configSchema } from '../../src/config/schema.js';
import { UserError } from '../../src/protocol/errors.js';
import { platforms } from '../../src/providers/platforms.js';
import { startLlmServer } from '../fakes/llm-server/server.mjs';
import { allFamilies, answerOf, ask, catalogFor } from './wire-ground.js';

const parse = (config: object): Config => configSchema.parse(config);
const local = { protocol: 'openai', baseUrl: 'http://127.0.0.1:9/v1', models: ['small', 'large'] };

function thrownBy(action: () => unknown): UserError {
  try {
    action();
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('the default model', () => {
  test.each([
    ['nothing is configured', {}, {}, 'demo/demo'],
    ['a key is in the environment', {}, { DEEPSEEK_API_KEY: 'k' }, 'deepseek/deepseek-flash'],
    ['an empty key is in the environment', {}, { DEEPSEEK_API_KEY: '' }, 'demo/demo'],
    ['two keys are in the environment', {}, { MOONSHOT_API_KEY: 'k', OPENAI_API_KEY: 'k' }, 'openai/gpt-5.4-mini'],
    [
      'a key is in the configuration',
      { platforms: { zhipu: { apiKey: 'k' } } },
      { OPENAI_API_KEY: 'k' },
      'zhipu/glm-4.7',
    ],
    ['a server of one’s own has models', { platforms: { local } }, {}, 'local/small'],
    ['a server of one’s own has no models', { platforms: { local: { ...local, models: [] } } }, {}, 'demo/demo'],
    ['Ollama is configured', { platforms: { ollama: {} } }, {}, 'ollama/qwen3'],
    ['a platform is configured without its key', { platforms: { openai: {} } }, {}, 'demo/demo'],
    ['agent.model is set', { agent: { model: 'x/y' } }, { OPENAI_API_KEY: 'k' }, 'x/y'],
  ])('when %s', (_when, config, environmentKeys, reference) => {
    expect(catalogFor({ config: parse(config), environmentKeys }).defaultReference()).toBe(reference);
  });
});

describe('a reference', () => {
  const catalog = catalogFor({
    config: parse({ platforms: { local, bare: { apiKey: 'k' } } }),
    environmentKeys: { OPENROUTER_API_KEY: 'k' },
  });

  test('gives the same object each time', () => {
    expect(catalog.resolve('local/small')).toBe(catalog.resolve('local/small'));
    expect(catalog.resolve('local')).toBe(catalog.resolve('local/small'));
    expect(catalog.resolve('demo')).toBe(catalog.resolve('demo/demo'));
  });
  test('may hold more slashes', () => {
    expect(catalog.resolve('openrouter/deepseek/deepseek-chat').id).toBe('openrouter/deepseek/deepseek-chat');
  });
  test('to an unknown platform says which are known, and the nearest', () => {
    const error = thrownBy(() => catalog.resolve('openroutr/x'));
    expect(error).toMatchObject({ code: 'platform_unknown' });
    expect(error.message).toMatch(/Did you mean "openrouter"\?.*local/);
  });
  test('to a platform of one’s own without an address says what is missing', () => {
    const error = thrownBy(() => catalog.resolve('bare/x'));
    expect(error).toMatchObject({ code: 'platform_unknown' });
    expect(error.message).toContain('platforms.bare.baseUrl');
  });
  test('to a platform without a key says where to put one', () => {
    const error = thrownBy(() => catalog.resolve('deepseek/deepseek-flash'));
    expect(error).toMatchObject({ code: 'platform_without_key' });
    expect(error.message).toMatch(/DEEPSEEK_API_KEY.*platforms\.deepseek\.apiKey/);
  });
  test.each(['nonsense', '', 'local/', '/x'])('that names no model is refused: "%s"', (reference) => {
    expect(thrownBy(() => catalog.resolve(reference)).code).toMatch(/^(model|platform)_unknown$/);
  });
});

test('every platform of the table resolves once it has a key', () => {
  for (const { id, keyVariables, defaultModel } of platforms) {
    const config = parse(keyVariables.length === 0 ? { platforms: { [id]: {} } } : {});
    const catalog = catalogFor({
      config,
      environmentKeys: Object.fromEntries(keyVariables.map((name) => [name, 'k'])),
    });
    expect(catalog.defaultReference()).toBe(`${id}/${defaultModel}`);
    expect(catalog.main().id).toBe(`${id}/${defaultModel}`);
  }
});

test('ids and key variables of the table are unique', () => {
  for (const names of [platforms.map(({ id }) => id), platforms.flatMap(({ keyVariables }) => keyVariables)]) {
    expect(new Set(names).size).toBe(names.length);
  }
});

test('the list has what can be used, the default first, the demo model last', () => {
  const config = parse({ agent: { model: 'local/special' }, platforms: { local, openai: {} } });
  const list = catalogFor({ config, environmentKeys: { ANTHROPIC_API_KEY: 'k' } }).list();
  expect(list[0]).toEqual({ id: 'local/special', platform: 'local', name: 'special' });
  expect(list.at(-1)).toEqual({ id: 'demo/demo', platform: 'demo', name: 'demo' });
  expect(new Set(list.map(({ platform }) => platform))).toEqual(new Set(['local', 'anthropic', 'demo']));
  expect(new Set(list.map(({ id }) => id)).size).toBe(list.length);
});

describe('the main model', () => {
  test('falls back along agent.fallbacks, leaving out what cannot be used', async () => {
    const server = await startLlmServer();
    const warned: unknown[] = [];
    const platform = { protocol: 'openai', baseUrl: server.baseUrl };
    const catalog = catalogFor({
      config: parse({
        agent: { model: 'down/m', fallbacks: ['unknown/m', 'down/m', 'up/m'] },
        platforms: { down: { ...platform, baseUrl: 'http://127.0.0.1:9/v1' }, up: platform },
      }),
      log: { info: () => {}, warn: (fields) => void warned.push(fields) },
    });
    const answer = await answerOf(catalog.main(), ask('hello'));
    expect(answer.text).toBe('ok: hello');
    expect(answer.events.find(({ type }) => type === 'fallback')).toMatchObject({ from: 'down/m', to: 'up/m' });
    expect(answer.events.at(-1)).toMatchObject({ type: 'end', model: 'up/m' });
    expect(warned[0]).toMatchObject({ reference: 'unknown/m' });
    expect(catalog.main()).toBe(catalog.main());
    await server.close();
  });

  test('that cannot be used is refused with what to do', () => {
    const catalog = catalogFor({ config: parse({ agent: { model: 'openai/gpt-5' } }) });
    expect(thrownBy(() => catalog.main()).code).toBe('platform_without_key');
  });
});

describe('keys and headers', () => {
  test.each(allFamilies)('%s: the key goes where the family wants it, and "none" goes nowhere', async (family) => {
    const server = await startLlmServer();
    for (const apiKey of ['key-0123456789', 'none', undefined]) {
      const config = parse({
        platforms: {
          fake: { protocol: family, baseUrl: server.baseUrl, headers: { 'x-team': 'blue' }, ...(apiKey && { apiKey }) },
        },
      });
      await answerOf(catalogFor({ config }).resolve('fake/claude-x'), ask('hello'));
      const { headers } = server.requests.at(-1)!;
      expect(headers['x-team']).toBe('blue');
      if (apiKey === 'key-0123456789')
        expect([headers['x-api-key'], headers.authorization]).toContain(
          family === 'anthropic' ? apiKey : `Bearer ${apiKey}`,
        );
      else if (family === 'openai') expect(headers.authorization).toBeUndefined();
    }
    await server.close();
  });

  test('the configuration wins over the environment', async () => {
    const server = await startLlmServer({ key: 'from-config-1234' });
    const config = parse({
      platforms: { openai: { protocol: 'openai', baseUrl: server.baseUrl, apiKey: 'from-config-1234' } },
    });
    const catalog = catalogFor({ config, environmentKeys: { OPENAI_API_KEY: 'from-environment' } });
    expect(await answerOf(catalog.resolve('openai/m'), ask('hello'))).toMatchObject({ reason: 'stop' });
    await server.close();
  });
});

test('thinking is switched in the platform’s own words', async () => {
  const server = await startLlmServer();
  const platform = { apiKey: 'k', baseUrl: server.baseUrl };
  const catalog = catalogFor({
    config: parse({ platforms: { deepseek: platform, qwen: platform, openrouter: platform } }),
  });
  const bodyOf = async (reference: string, thinking: 'off' | 'high') => {
    await answerOf(catalog.resolve(reference), ask('hello', { thinking }));
    return server.requests.at(-1)!.json;
  };
  expect((await bodyOf('deepseek', 'high')).thinking).toEqual({ type: 'enabled' });
  expect((await bodyOf('deepseek', 'off')).thinking).toEqual({ type: 'disabled' });
  expect((await bodyOf('qwen', 'high')).enable_thinking).toBe(true);
  expect(await bodyOf('qwen', 'off')).not.toHaveProperty('enable_thinking');
  expect((await bodyOf('openrouter', 'high')).reasoning_effort).toBe('high');
  expect(await bodyOf('openrouter', 'off')).not.toHaveProperty('reasoning_effort');
  await server.close();
});

test('warming up loads the default family, and nothing for the demo model', async () => {
  await expect(catalogFor({}).warm()).resolves.toBeUndefined();
  await expect(catalogFor({ environmentKeys: { ANTHROPIC_API_KEY: 'k' } }).warm()).resolves.toBeUndefined();
});

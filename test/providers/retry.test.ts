import { expect, test } from 'vitest';
import type { ModelEvent } from '../../src/providers/model.js';
import { ProviderError } from '../../src/providers/provider-error.js';
import { withRetry } from '../../src/providers/retry.js';
import { parseRetryAfter } from '../../src/providers/retry-after.js';
import { startLlmServer } from '../fakes/llm-server/server.mjs';
import { fail, say, scriptedModel } from '../fakes/scripted-model.js';
import { answerOf, ask, failureOf, modelFor } from './wire-ground.js';

const busy = (retryAfterMs?: number) =>
  new ProviderError('overloaded', 'busy', { status: 503, ...(retryAfterMs !== undefined && { retryAfterMs }) });

function retried(steps: Parameters<typeof scriptedModel>[0], random = () => 0.5) {
  const waits: number[] = [];
  const model = scriptedModel(steps);
  const sleep = async (ms: number) => void waits.push(ms);
  return { model, waits, retrying: withRetry(model, { random, sleep, log: { info: () => {} } }) };
}

test('a call that fails twice is made three times, with growing waits that are told', async () => {
  const { retrying, waits } = retried([fail(busy()), fail(busy()), say('at last')]);
  const answer = await answerOf(retrying, ask('hello'));
  expect(answer.text).toBe('at last');
  expect(waits).toEqual([500, 1000]);
  expect(answer.events.slice(0, 2)).toEqual([
    { type: 'retry', attempt: 1, waitMs: 500, reason: 'busy' },
    { type: 'retry', attempt: 2, waitMs: 1000, reason: 'busy' },
  ]);
});

test('the third failure is the last one', async () => {
  const { retrying, model } = retried([fail(busy()), fail(busy()), fail(busy()), say('never')]);
  expect((await failureOf(retrying, ask('hello'))).error.kind).toBe('overloaded');
  expect(model.requests).toHaveLength(3);
});

test('waits are spread by chance, from half to one and a half', async () => {
  for (const [random, waitMs] of [
    [0, 250],
    [0.999, 750],
  ] as const) {
    const { retrying, waits } = retried([fail(busy()), say('ok')], () => random);
    await answerOf(retrying, ask('hello'));
    expect(waits[0]).toBeCloseTo(waitMs, -1);
  }
});

test('what the platform asks for is waited, up to a minute', async () => {
  const { retrying, waits } = retried([fail(busy(60_000)), fail(busy(0)), say('ok')]);
  await answerOf(retrying, ask('hello'));
  expect(waits).toEqual([60_000, 0]);
  const longer = retried([fail(busy(60_001))]);
  expect((await failureOf(longer.retrying, ask('hello'))).error.retryAfterMs).toBe(60_001);
  expect(longer.waits).toEqual([]);
});

test.each(['auth', 'quota', 'context-too-long', 'content-refused', 'bad-request', 'not-found'] as const)(
  '%s is not tried again',
  async (kind) => {
    const { retrying, model } = retried([fail(new ProviderError(kind, 'no'))]);
    expect((await failureOf(retrying, ask('hello'))).error.kind).toBe(kind);
    expect(model.requests).toHaveLength(1);
  },
);

test.each<ModelEvent>([
  { type: 'text-delta', text: 'half' },
  { type: 'reasoning-delta', text: 'hm' },
])('after the first event nothing is tried again: $type', async (event) => {
  const { retrying, model } = retried([fail(busy(), [event])]);
  const { events } = await failureOf(retrying, ask('hello'));
  expect(events).toEqual([event]);
  expect(model.requests).toHaveLength(1);
});

test('our own bugs are not tried again', async () => {
  const { retrying, model } = retried([fail(new TypeError('bug'))]);
  await expect(answerOf(retrying, ask('hello'))).rejects.toThrow('bug');
  expect(model.requests).toHaveLength(1);
});

test('Retry-After is read as seconds, as a date, and in milliseconds', () => {
  const now = Date.UTC(2026, 0, 1, 0, 0, 0);
  const of = (headers: Record<string, string>) => parseRetryAfter({ get: (name) => headers[name] ?? null }, now);
  expect(of({ 'retry-after': '7' })).toBe(7000);
  expect(of({ 'retry-after': '0.5' })).toBe(500);
  expect(of({ 'retry-after': 'Thu, 01 Jan 2026 00:00:20 GMT' })).toBe(20_000);
  expect(of({ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' })).toBe(0);
  expect(of({ 'retry-after-ms': '1500', 'retry-after': '9' })).toBe(1500);
  expect(of({ 'retry-after': 'soon' })).toBeUndefined();
  expect(of({})).toBeUndefined();
});

test('over HTTP: 429 with seconds, then with a date, then an answer', async () => {
  const server = await startLlmServer();
  const waits: number[] = [];
  const error = { message: 'slow down' };
  server.script(
    { status: 429, error, headers: { 'retry-after': '3' } },
    { status: 429, error, headers: { 'retry-after': 'Thu, 01 Jan 2026 00:00:05 GMT' } },
  );
  const sleep = async (ms: number) => void waits.push(ms);
  const answer = await answerOf(modelFor({ baseUrl: server.baseUrl, family: 'openai', sleep }), ask('hello'));
  expect(waits).toEqual([3000, 5000]);
  expect(answer.text).toBe('ok: hello');
  await server.close();
});

import { expect, test } from 'vitest';
import { withFallback } from '../../src/providers/fallback.js';
import { ProviderError, type ProviderErrorKind } from '../../src/providers/provider-error.js';
import { withRetry } from '../../src/providers/retry.js';
import { fail, hang, say, scriptedModel } from '../fakes/scripted-model.js';
import { answerOf, ask, failureOf } from './wire-ground.js';

const error = (kind: ProviderErrorKind) => new ProviderError(kind, `failed: ${kind}`);
const log = { warn: () => {}, info: () => {} };
const first = (...steps: Parameters<typeof scriptedModel>[0] & readonly unknown[]) =>
  scriptedModel(steps, { id: 'a/one' });
const second = (...steps: Parameters<typeof scriptedModel>[0] & readonly unknown[]) =>
  scriptedModel(steps, { id: 'b/two' });

test.each(['auth', 'quota', 'rate-limited', 'overloaded', 'network', 'bad-request', 'not-found'] as const)(
  'the next model answers after %s, and says so',
  async (kind) => {
    const chain = withFallback([first(fail(error(kind))), second(say('from two'))], { log });
    const answer = await answerOf(chain, ask('hello'));
    expect(answer.text).toBe('from two');
    expect(answer.events[0]).toEqual({ type: 'fallback', from: 'a/one', to: 'b/two', reason: `failed: ${kind}` });
  },
);

test.each(['context-too-long', 'content-refused'] as const)('%s is not for another model', async (kind) => {
  const other = second(say('never'));
  const chain = withFallback([first(fail(error(kind))), other], { log });
  expect((await failureOf(chain, ask('hello'))).error.kind).toBe(kind);
  expect(other.requests).toHaveLength(0);
});

test('after output the error stands', async () => {
  const other = second(say('never'));
  const chain = withFallback([first(fail(error('network'), [{ type: 'text-delta', text: 'half' }])), other], { log });
  expect((await failureOf(chain, ask('hello'))).error.kind).toBe('network');
  expect(other.requests).toHaveLength(0);
});

test('retries come first, and their events do not count as output', async () => {
  const steps = [fail(error('overloaded')), fail(error('overloaded')), fail(error('overloaded'))];
  const retrying = withRetry(first(...steps), { random: () => 0.5, sleep: async () => {}, log });
  const chain = withFallback([retrying, second(say('from two'))], { log });
  const answer = await answerOf(chain, ask('hello'));
  expect(answer.events.map(({ type }) => type)).toEqual(['retry', 'retry', 'fallback', 'text-delta', 'end']);
});

test('the last error is the one that is thrown', async () => {
  const chain = withFallback([first(fail(error('network'))), second(fail(error('auth')))], { log });
  expect((await failureOf(chain, ask('hello'))).error.kind).toBe('auth');
});

test('an abort is no reason to ask another model', async () => {
  const controller = new AbortController();
  const waiting = first(hang());
  const other = second(say('never'));
  const call = answerOf(withFallback([waiting, other], { log }), ask('hello'), controller.signal);
  await waiting.called(1);
  controller.abort('stop');
  await expect(call).rejects.toBe('stop');
  expect(other.requests).toHaveLength(0);
});

test('the chain has the name of its first model', () => {
  expect(withFallback([first(), second()], { log }).id).toBe('a/one');
});

import { expect, test } from 'vitest';
import { ProviderError } from '../../src/providers/provider-error.js';
import { answerOf, ask, failureOf } from '../providers/wire-ground.js';
import { callTool, fail, hang, say, scriptedModel } from './scripted-model.js';

test('plays its script and remembers what it was asked', async () => {
  const model = scriptedModel([
    say('one two', { chunks: ['one ', 'two'] }),
    callTool('calculator', { expression: '1' }),
  ]);
  expect(await answerOf(model, ask('first'))).toMatchObject({ text: 'one two', reason: 'stop' });
  expect(await answerOf(model, ask('second'))).toMatchObject({
    calls: [{ callId: 'call_2_1', name: 'calculator', input: { expression: '1' } }],
    reason: 'tool-calls',
  });
  expect(model.requests.map(({ messages }) => messages[0])).toMatchObject([
    { content: [{ text: 'first' }] },
    { content: [{ text: 'second' }] },
  ]);
  await expect(answerOf(model, ask('third'))).rejects.toThrow('no step for request 3');
});

test('fails as told', async () => {
  const model = scriptedModel([fail(new ProviderError('network', 'gone'), [{ type: 'text-delta', text: 'half' }])]);
  const { error, events } = await failureOf(model, ask('hello'));
  expect(error.message).toBe('gone');
  expect(events).toEqual([{ type: 'text-delta', text: 'half' }]);
});

test('hangs until the signal aborts', async () => {
  const model = scriptedModel([hang()]);
  const controller = new AbortController();
  const call = answerOf(model, ask('hello'), controller.signal);
  await model.called(1);
  controller.abort('enough');
  await expect(call).rejects.toBe('enough');
});

test('refuses what a real platform would refuse', async () => {
  const model = scriptedModel(() => say('never'));
  const call = { callId: 'c1', name: 'calculator', input: {} };
  const request = ask('hello');
  const { error } = await failureOf(model, {
    ...request,
    messages: [...request.messages, { role: 'assistant', text: '', toolCalls: [call] }],
  });
  expect(error.kind).toBe('bad-request');
  expect(error.message).toMatch(/tool_call_ids did not have response messages: c1/);
});

test('a function answers for ever', async () => {
  const model = scriptedModel((request, number) => say(`${number}: ${request.system}`));
  expect((await answerOf(model, ask('a'))).text).toBe('1: You are a test.');
  expect((await answerOf(model, ask('b'))).text).toBe('2: You are a test.');
});

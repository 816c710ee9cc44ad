/** Tool calls as platforms really send them: each is made once, with its own arguments. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type FakeQuirks, type FakeStep, type LlmServer, startLlmServer } from '../fakes/llm-server/server.mjs';
import { allFamilies, answerOf, ask, modelFor, withResults } from './wire-ground.js';

let server: LlmServer;
beforeAll(async () => {
  server = await startLlmServer();
});
beforeEach(() => server.reset({ quirks: {}, rules: {}, respond: undefined }));
afterAll(() => server.close());

const one = { name: 'calculator', input: { expression: '1+1' }, id: 'c1' };
const two = { name: 'calculator', input: { expression: '2*(3+4)' }, id: 'c2' };
const withoutArguments = { name: 'current_time', rawArguments: '', id: 'c3' };

const indices: FakeQuirks['toolCalls'][] = [{}, { index: 'shared' }, { index: 'none' }];
const ids: FakeQuirks['toolCalls'][] = [{}, { ids: 'every' }];
const styles = ['fragments', 'whole', 'cumulative', 'object'] as const;
const variants = indices.flatMap((index) =>
  ids.flatMap((id) => styles.map((style) => ({ ...index, ...id, arguments: style }))),
);

describe.each(allFamilies)('%s', (family) => {
  const model = (stream = true) => modelFor({ baseUrl: server.baseUrl, family, stream });

  test.each(variants)('two calls stay two: %j', async (toolCalls) => {
    server.script({ calls: [one, two], quirks: { toolCalls } });
    const { calls, reason } = await answerOf(model(), ask('compute'));
    expect(calls).toEqual([
      { callId: 'c1', name: 'calculator', input: one.input },
      { callId: 'c2', name: 'calculator', input: two.input },
    ]);
    expect(reason).toBe('tool-calls');
  });

  test.each([true, false])('empty arguments mean {} (streamed: %s)', async (stream) => {
    server.script({ calls: [withoutArguments, { ...withoutArguments, id: 'c4' }] });
    const { calls } = await answerOf(model(stream), ask('compute'));
    expect(calls).toEqual([
      { callId: 'c3', name: 'current_time', input: {} },
      { callId: 'c4', name: 'current_time', input: {} },
    ]);
  });

  test.each([true, false])('calls count whatever the finish reason says (streamed: %s)', async (stream) => {
    if (family === 'responses') return; // it has no such reason
    server.script({ calls: [one], finish: family === 'openai' ? 'stop' : 'end_turn' });
    expect(await answerOf(model(stream), ask('compute'))).toMatchObject({
      calls: [{ callId: 'c1' }],
      reason: 'tool-calls',
    });
  });

  test.each([true, false])(
    'arguments that are not JSON come back as invalid, and can be sent back (streamed: %s)',
    async (stream) => {
      if (family === 'anthropic' && !stream) return; // arguments are no text there
      server.script({ calls: [{ name: 'calculator', rawArguments: '{"expression": "1+', id: 'c1' }] });
      const request = ask('compute');
      const answer = await answerOf(model(stream), request);
      expect(answer.calls).toEqual([
        {
          callId: 'c1',
          name: 'calculator',
          input: '{"expression": "1+',
          invalid: expect.stringMatching(/not valid JSON/),
        },
      ]);
      const messages = withResults(request.messages, answer, ['The arguments were not valid JSON.']);
      expect(await answerOf(model(stream), { ...request, messages })).toMatchObject({ reason: 'stop' });
      expect(JSON.stringify(server.requests.at(-1)?.json)).toContain('unparsed');
    },
  );

  test('arguments that are an object are an object', async () => {
    server.script({ calls: [one, two], quirks: { toolCalls: { arguments: 'object' } } });
    const { calls } = await answerOf(model(false), ask('compute'));
    expect(calls.map(({ input }) => input)).toEqual([one.input, two.input]);
  });

  test('text before a call is kept', async () => {
    server.script({ text: ['Let me ', 'see.'], calls: [one] } satisfies FakeStep);
    expect(await answerOf(model(), ask('compute'))).toMatchObject({ text: 'Let me see.', calls: [{ callId: 'c1' }] });
  });

  test('call ids of another platform, twice the same, are accepted', async () => {
    const messages = ask('first').messages;
    const odd = { callId: 'functions.calculator:0', name: 'calculator', input: { expression: '1' } };
    const call = { role: 'assistant' as const, text: '', toolCalls: [odd] };
    const result = { role: 'tool' as const, callId: odd.callId, name: 'calculator', output: '1', isError: false };
    const again = { role: 'user' as const, content: [{ type: 'text' as const, text: 'again' }] };
    const request = ask('', { messages: [...messages, call, result, again, call, result] });
    expect(await answerOf(model(), request)).toMatchObject({ reason: 'stop' });
  });
});

describe('openai', () => {
  const model = (stream = true) => modelFor({ baseUrl: server.baseUrl, family: 'openai', stream });

  test('calls without ids get some of their own', async () => {
    for (const index of ['own', 'none'] as const) {
      server.script({ calls: [one, two], quirks: { toolCalls: { ids: 'none', index, arguments: 'whole' } } });
      const { calls } = await answerOf(model(), ask('compute'));
      expect(calls.map(({ input }) => input)).toEqual([one.input, two.input]);
      expect(new Set(calls.map(({ callId }) => callId)).size).toBe(2);
    }
  });

  test.each([true, false])('two calls under one id are told apart (streamed: %s)', async (stream) => {
    server.script({ calls: [one, two], quirks: { toolCalls: { ids: 'same', arguments: 'whole' } } });
    const { calls } = await answerOf(model(stream), ask('compute'));
    expect(calls.map(({ callId, input }) => ({ callId, input }))).toEqual([
      { callId: 'call_same', input: one.input },
      { callId: 'call_same_2', input: two.input },
    ]);
  });

  test('a signature beside a call goes back beside it, to its platform only', async () => {
    server.script({ calls: [{ ...one, signature: 'sig-of-c1' }] });
    const request = ask('compute');
    const answer = await answerOf(model(), request);
    const messages = withResults(request.messages, answer, ['2']);
    await answerOf(model(), { ...request, messages });
    expect(server.requests.at(-1)?.body).toContain('"thought_signature":"sig-of-c1"');
  });
});

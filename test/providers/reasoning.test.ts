/** Reasoning goes back where it came from, unchanged, and nowhere else. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { configSchema } from '../../src/config/schema.js';
import type { Model, ModelMessage, ModelRequest } from '../../src/providers/model.js';
import { type LlmServer, startLlmServer } from '../fakes/llm-server/server.mjs';
import {
  type Answer,
  allFamilies,
  answerOf,
  ask,
  catalogFor,
  failureOf,
  gate,
  modelFor,
  modelIds,
  withResults,
} from './wire-ground.js';

let server: LlmServer;
let other: LlmServer;
beforeAll(async () => {
  server = await startLlmServer();
  other = await startLlmServer();
});
beforeEach(() => {
  server.reset({ quirks: {}, rules: {}, respond: undefined });
  other.reset({ quirks: {}, rules: {}, respond: undefined });
});
afterAll(async () => {
  await server.close();
  await other.close();
});

const oneCall = { callId: 'c1', name: 'calculator', input: { expression: '1' } };
const emptyAnswer: Answer = {
  text: '',
  thought: '',
  reasoning: [],
  calls: [],
  reason: undefined,
  usage: undefined,
  events: [],
};
const thinkingCall = {
  reasoning: ['I need ', 'the calculator.'],
  calls: [{ name: 'calculator', input: { expression: '1+1' } }],
};

/** One turn of two tool steps and an answer; gives the whole conversation. */
async function twoToolTurn(
  model: Model,
  request: ModelRequest,
): Promise<{ messages: ModelMessage[]; answers: Answer[] }> {
  let { messages } = request;
  const answers: Answer[] = [];
  for (;;) {
    const answer = await answerOf(model, { ...request, messages });
    answers.push(answer);
    // As it comes back from storage after a restart.
    messages = JSON.parse(JSON.stringify(withResults(messages, answer, ['2']))) as ModelMessage[];
    if (answer.calls.length === 0) return { messages, answers };
  }
}

/** Both platforms; the second one speaks `family` too. */
function twoPlatforms(family: (typeof allFamilies)[number]) {
  const platform = { protocol: family, apiKey: 'test-key-0123456789' };
  const config = configSchema.parse({
    platforms: { first: { ...platform, baseUrl: server.baseUrl }, second: { ...platform, baseUrl: other.baseUrl } },
  });
  const catalog = catalogFor({ config });
  return { first: catalog.resolve(`first/${modelIds[family]}`), second: catalog.resolve(`second/${modelIds[family]}`) };
}

const more = (messages: ModelMessage[]): ModelMessage[] => [
  ...messages,
  { role: 'user', content: [{ type: 'text', text: 'and now?' }] },
];

describe.each(allFamilies)('%s', (family) => {
  test.each([true, false])(
    'a turn of two tool steps with thinking passes the strict server (streamed: %s)',
    async (stream) => {
      server.reset({ rules: family === 'openai' ? { reasoningContent: 'demand' } : {} });
      server.script(thinkingCall, thinkingCall, { reasoning: 'Done.', text: 'It is 2.' });
      const model = modelFor({ baseUrl: server.baseUrl, family, stream });
      const { answers, messages } = await twoToolTurn(model, ask('compute', { thinking: 'low' }));
      expect(answers.map(({ thought }) => thought)).toEqual([
        'I need the calculator.',
        'I need the calculator.',
        'Done.',
      ]);
      expect(answers.at(-1)?.text).toBe('It is 2.');
      expect(server.requests.every(({ refusal }) => refusal === undefined)).toBe(true);
      expect(server.requests.at(-1)?.body).toContain('I need the calculator.');
      server.script({ text: 'fine' });
      expect(await answerOf(model, ask('', { messages: more(messages), thinking: 'low' }))).toMatchObject({
        text: 'fine',
      });
      expect(server.requests).toHaveLength(4);
    },
  );

  test('after a change of platform in mid-session nothing of the first goes to the second', async () => {
    other.reset({ rules: { reasoningContent: 'refuse' } });
    const { first, second } = twoPlatforms(family);
    server.script(thinkingCall, { text: 'It is 2.' });
    const { messages } = await twoToolTurn(first, ask('compute', { thinking: 'low' }));
    expect(await answerOf(second, ask('', { messages: more(messages), thinking: 'low' }))).toMatchObject({
      text: 'ok: and now?',
    });
    expect(other.requests).toHaveLength(1);
    expect(other.requests[0]?.body).not.toMatch(/I need the calculator|sig_|enc_/);
  });

  test('after a change of platform in mid-turn, with thinking on, the second goes on', async () => {
    const { first, second } = twoPlatforms(family);
    server.script(thinkingCall);
    const request = ask('compute', { thinking: 'low' });
    const answer = await answerOf(first, request);
    const messages = withResults(request.messages, answer, ['2']);
    expect(await answerOf(second, { ...request, messages })).toMatchObject({ reason: 'stop' });
    expect(other.requests.every(({ refusal }) => refusal === undefined)).toBe(true);
  });

  test('reasoning without the proof that its server wants is not sent', async () => {
    const wire = { openai: { itemId: 'rs_1' }, anthropic: {} };
    const reasoning = [{ text: 'unproven', metadata: { family, platform: 'fake', wire } }];
    const request = ask('compute');
    const messages = withResults(request.messages, { ...emptyAnswer, reasoning, calls: [oneCall] }, ['1']);
    expect(await answerOf(modelFor({ baseUrl: server.baseUrl, family }), { ...request, messages })).toMatchObject({
      reason: 'stop',
    });
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.body.includes('unproven')).toBe(family === 'openai'); // which has no proofs
  });

  test('reasoning of unknown origin, as older sessions have it, is not sent', async () => {
    const reasoning = [{ text: 'old thoughts' }, { text: 'older', metadata: { signature: 'x' } }];
    const call = { callId: 'c1', name: 'calculator', input: { expression: '1' } };
    const request = ask('compute');
    const messages: ModelMessage[] = [
      ...request.messages,
      { role: 'assistant', text: '', reasoning, toolCalls: [call] },
      { role: 'tool', callId: 'c1', name: 'calculator', output: '1', isError: false },
    ];
    await answerOf(modelFor({ baseUrl: server.baseUrl, family }), { ...request, messages });
    expect(server.requests[0]?.body).not.toMatch(/old/);
  });
});

describe('a server that demands reasoning_content', () => {
  test('gets a blank where there is none, after it has said so once', async () => {
    server.reset({ rules: { reasoningContent: 'demand' } });
    const model = modelFor({ baseUrl: server.baseUrl, family: 'openai' });
    const call = { callId: 'c1', name: 'calculator', input: { expression: '1' } };
    const request = ask('compute');
    const messages: ModelMessage[] = [
      ...request.messages,
      { role: 'assistant', text: '', toolCalls: [call] },
      { role: 'tool', callId: 'c1', name: 'calculator', output: '1', isError: false },
    ];
    expect(await answerOf(model, { ...request, messages })).toMatchObject({ reason: 'stop' });
    expect(server.requests.map(({ refusal }) => refusal !== undefined)).toEqual([true, false]);
    await answerOf(model, { ...request, messages });
    expect(server.requests).toHaveLength(3);
  });
});

describe('a server that refuses reasoning_content', () => {
  test('is not sent its own again, after it has said so once', async () => {
    server.reset({ rules: { reasoningContent: 'refuse' } });
    server.script(thinkingCall, { text: 'It is 2.' });
    const model = modelFor({ baseUrl: server.baseUrl, family: 'openai' });
    const { answers } = await twoToolTurn(model, ask('compute'));
    expect(answers.at(-1)?.text).toBe('It is 2.');
    expect(server.requests.map(({ refusal }) => refusal !== undefined)).toEqual([false, true, false]);
  });
});

describe('plain answers of chat completions', () => {
  test('are sent back without their reasoning', async () => {
    server.script({ reasoning: 'secret thoughts', text: 'Hi.' });
    const model = modelFor({ baseUrl: server.baseUrl, family: 'openai' });
    const { messages } = await twoToolTurn(model, ask('hello'));
    await answerOf(model, ask('', { messages: more(messages) }));
    expect(server.requests.at(-1)?.body).not.toContain('secret thoughts');
  });

  test('under the name "reasoning" are understood too', async () => {
    server.script({ reasoning: 'thoughts', text: 'Hi.', quirks: { reasoningField: 'reasoning' } });
    const answer = await answerOf(modelFor({ baseUrl: server.baseUrl, family: 'openai' }), ask('hello'));
    expect(answer).toMatchObject({ thought: 'thoughts', text: 'Hi.' });
  });
});

describe('a thinking block that was changed', () => {
  test('is refused by the fake, so it was unchanged above', async () => {
    const model = modelFor({ baseUrl: server.baseUrl, family: 'anthropic' });
    server.script(thinkingCall);
    const request = ask('compute', { thinking: 'low' });
    const answer = await answerOf(model, request);
    answer.reasoning[0]!.text += ' changed';
    // Refused once, then sent without: an answer is worth more than the thoughts.
    expect(await answerOf(model, { ...request, messages: withResults(request.messages, answer, ['2']) })).toMatchObject(
      {
        reason: 'stop',
      },
    );
    expect(server.requests[1]?.refusal).toMatch(/signature/);
  });
});

describe('what a server does not know', () => {
  test.each([
    ['openai', 'Unrecognized request argument supplied: stream_options', 'stream_options'],
    ['openai', 'unknown field: reasoning_effort', 'reasoning_effort'],
    ['anthropic', 'cache_control: Extra inputs are not permitted', 'cache_control'],
    ['anthropic', 'thinking: Extra inputs are not permitted', '"thinking":{'],
    ['responses', "Unsupported parameter: 'reasoning.effort'", '"effort"'],
  ] as const)('is left out from then on: %s, %s', async (family, message, part) => {
    server.script({ status: 400, error: { message } });
    const model = modelFor({ baseUrl: server.baseUrl, family });
    expect(await answerOf(model, ask('hello', { thinking: 'low' }))).toMatchObject({ text: 'ok: hello' });
    expect(server.requests.map(({ body }) => body.includes(part))).toEqual([true, false]);
    await answerOf(model, ask('again', { thinking: 'low' }));
    expect(server.requests.at(-1)?.body).not.toContain(part);
  });

  test('after all is told when leaving it out does not help', async () => {
    server.reset({ respond: () => ({ status: 400, error: { message: 'stream_options: no' } }) });
    await failureOf(modelFor({ baseUrl: server.baseUrl, family: 'openai' }), ask('hello'));
    expect(server.requests).toHaveLength(2);
  });

  test('is no reason to begin again when text was shown', async () => {
    const { opened, open } = gate();
    const error = { message: 'stream_options: no', type: 'invalid_request_error' };
    server.reset({ respond: () => ({ text: ['a', 'b'], error, quirks: { errorFrame: 'middle' }, midway: opened }) });
    const { events } = await failureOf(modelFor({ baseUrl: server.baseUrl, family: 'openai' }), ask('hello'), open);
    expect(events[0]).toEqual({ type: 'text-delta', text: 'a' });
    expect(server.requests).toHaveLength(1);
  });

  test('and says so again and again does not make an endless loop', async () => {
    server.reset({
      respond: ({ body }) => ({
        status: 400,
        error: {
          message: body.includes('reasoning_content')
            ? 'reasoning_content is not permitted'
            : 'reasoning_content is missing',
        },
      }),
    });
    const { error } = await failureOf(modelFor({ baseUrl: server.baseUrl, family: 'openai' }), ask('hello'));
    expect(error.kind).toBe('bad-request');
    expect(server.requests.length).toBeLessThanOrEqual(4);
  });
});

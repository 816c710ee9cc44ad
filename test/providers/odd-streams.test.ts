/** Every way in which platforms frame, split and cut their answers. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type FakeQuirks, type FakeStep, type LlmServer, startLlmServer } from '../fakes/llm-server/server.mjs';
import { allFamilies, answerOf, ask, failureOf, gate, modelFor } from './wire-ground.js';

let server: LlmServer;
beforeAll(async () => {
  server = await startLlmServer();
});
beforeEach(() => server.reset({ quirks: {}, rules: {}, respond: undefined }));
afterAll(() => server.close());

const call = { id: 'call_1', name: 'calculator', input: { expression: '17*23', note: '七 🙂' } };
const step: FakeStep = {
  reasoning: ['Let me ', 'think 🤔.'],
  text: ['Grüße, ', '你好，', '世界 🙂!'],
  calls: [call],
  usage: { input: 100, output: 20, cached: 40 },
};
const framings: Record<string, FakeQuirks> = {
  plainly: {},
  'without a space after data:': { spaceless: true },
  'with CRLF': { crlf: true },
  'with comments between frames': { comments: true },
  'one byte at a time': { split: 1 },
  'in pieces of seven bytes with CRLF': { split: 7, crlf: true, spaceless: true },
  'without the last newline': { missingLastNewline: true },
  'without the last newline and without an end mark': {
    missingLastNewline: true,
    noDone: true,
    spaceless: true,
    comments: true,
  },
  'without event lines': { noEventLines: true },
  'with events nobody knows': { unknownEvents: true },
  'with frames without choices': { emptyChoices: true },
  'as one JSON body': { jsonInsteadOfStream: true },
  'as JSON that is called a stream': { jsonInsteadOfStream: true, contentType: 'text/event-stream' },
};

describe.each(allFamilies)('%s', (family) => {
  const model = (stream = true) => modelFor({ baseUrl: server.baseUrl, family, stream, silenceTimeoutMs: 5000 });

  test.each(Object.entries(framings))('an answer framed %s is read whole', async (_name, quirks) => {
    if (quirks.jsonInsteadOfStream && family === 'responses') return;
    server.script({ ...step, quirks });
    const answer = await answerOf(model(), ask('hello', { thinking: 'low' }));
    expect(answer).toMatchObject({
      text: 'Grüße, 你好，世界 🙂!',
      thought: 'Let me think 🤔.',
      calls: [{ callId: 'call_1', name: 'calculator', input: call.input }],
      reason: 'tool-calls',
      usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 40 },
    });
    expect(answer.events.at(-1)?.type).toBe('end');
    expect(server.requests).toHaveLength(1);
  });

  test('an answer that is not streamed gives the same events', async () => {
    server.script(step);
    const answer = await answerOf(model(false), ask('hello', { thinking: 'low' }));
    expect(answer).toMatchObject({
      text: 'Grüße, 你好，世界 🙂!',
      thought: 'Let me think 🤔.',
      calls: [{ callId: 'call_1', name: 'calculator', input: call.input }],
      reason: 'tool-calls',
      usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 40 },
    });
    expect(server.requests[0]?.json.stream).toBeFalsy();
  });

  test.each([true, false])('text alone ends with "stop" (streamed: %s)', async (stream) => {
    const answer = await answerOf(model(stream), ask('hello'));
    expect(answer).toMatchObject({ text: 'ok: hello', calls: [], reason: 'stop' });
    expect(answer.events.map(({ type }) => type)).toEqual(['text-delta', 'end']);
  });

  test.each([true, false])('an answer cut by its token limit ends with "length" (streamed: %s)', async (stream) => {
    const finish = { openai: 'length', anthropic: 'max_tokens', responses: 'max_output_tokens' }[family];
    server.script({ text: 'half a sen', finish });
    expect(await answerOf(model(stream), ask('hello'))).toMatchObject({ text: 'half a sen', reason: 'length' });
  });

  test('usage that grows from frame to frame is counted once', async () => {
    server.script({ text: ['a', 'b', 'c'], usage: { input: 100, output: 30 }, quirks: { usage: 'every-frame' } });
    const { usage } = await answerOf(model(), ask('hello'));
    expect(usage).toMatchObject({ inputTokens: 100, outputTokens: 30 });
  });

  test.each([true, false])('usage that nobody sent is absent, not zero (streamed: %s)', async (stream) => {
    server.script({ text: 'hi', quirks: { usage: 'none' } });
    const { usage, text } = await answerOf(model(stream), ask('hello'));
    expect(text).toBe('hi');
    expect(usage?.inputTokens).toBeUndefined();
    expect(usage?.outputTokens).toBeUndefined();
  });

  test('a stream without a finish signal was cut off, and is no success', async () => {
    server.reset({ respond: () => ({ text: ['half', ' an answer'], finish: null, usage: null }) });
    const { error, events } = await failureOf(model(), ask('hello'));
    expect(error).toMatchObject({ kind: 'network', code: 'model_network' });
    expect(error.message).toMatch(/cut off/);
    expect(events).toEqual([
      { type: 'text-delta', text: 'half' },
      { type: 'text-delta', text: ' an answer' },
    ]);
    expect(server.requests).toHaveLength(1);
  });

  test.each(['middle', 'before-finish'] as const)(
    'a socket closed in the %s of a stream is a network failure',
    async (close) => {
      const { opened, open } = gate();
      server.reset({ respond: () => ({ text: ['one ', 'two ', 'three'], quirks: { close }, midway: opened }) });
      const { error, events } = await failureOf(model(), ask('hello'), open);
      expect(error.kind).toBe('network');
      expect(events[0]).toEqual({ type: 'text-delta', text: 'one ' });
      expect(events.some(({ type }) => type === 'end' || type === 'retry')).toBe(false);
    },
  );

  test.each(['headers', 'start'] as const)('a socket closed before any text (%s) is tried again', async (close) => {
    server.script({ quirks: { close } });
    const answer = await answerOf(model(), ask('hello'));
    expect(answer.text).toBe('ok: hello');
    expect(answer.events[0]).toMatchObject({ type: 'retry', attempt: 1 });
    expect(server.requests).toHaveLength(2);
  });

  test('a JSON answer cut in its middle is a network failure', async () => {
    server.reset({ respond: () => ({ text: 'x'.repeat(500), quirks: { close: 'middle' } }) });
    const { error } = await failureOf(model(false), ask('hello'));
    expect(error.kind).toBe('network');
  });

  test.each(['headers', 'start', 'middle'] as const)('silence (%s) ends the call and its connection', async (stall) => {
    server.reset({ respond: () => ({ text: ['one ', 'two'], quirks: { stall } }) });
    const impatient = modelFor({ baseUrl: server.baseUrl, family, silenceTimeoutMs: stall === 'middle' ? 400 : 60 });
    const { error } = await failureOf(impatient, ask('hello'));
    expect(error.kind).toBe('network');
    expect(error.message).toMatch(/no sign of life/);
    for (const request of server.requests) expect(await request.closed).toBe(true);
    expect(server.requests).toHaveLength(stall === 'middle' ? 1 : 3);
  });

  test('silence is counted from the last sign of life, not from the beginning', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const halfway = gate();
      server.script(() => {
        vi.advanceTimersByTime(100_000);
        return { text: ['one ', 'two'], midway: halfway.opened };
      });
      let text = '';
      for await (const event of modelFor({ baseUrl: server.baseUrl, family }).stream(
        ask('hello'),
        new AbortController().signal,
      )) {
        if (event.type !== 'text-delta') continue;
        if (text === '') vi.advanceTimersByTime(100_000);
        text += event.text;
        halfway.open();
      }
      expect(text).toBe('one two');
    } finally {
      vi.useRealTimers();
    }
  });

  test('a web page instead of an answer says that the address is wrong', async () => {
    server.reset({ respond: () => ({ body: '<!doctype html><title>Login</title>', status: 200 }) });
    for (const stream of [true, false]) {
      const { error } = await failureOf(model(stream), ask('hello'));
      expect(error).toMatchObject({ kind: 'bad-request' });
      expect(error.message).toMatch(/web page/);
    }
  });

  test('plain text instead of a stream is told', async () => {
    server.script({ body: 'upstream: model is overloaded', quirks: { contentType: 'text/plain' } });
    server.script({ text: 'fine' });
    const answer = await answerOf(model(), ask('hello'));
    expect(answer.events[0]).toMatchObject({ type: 'retry', reason: expect.stringMatching(/model is overloaded/) });
    expect(answer.text).toBe('fine');
  });

  test('a frame that is broken JSON is a network failure', async () => {
    const body = { openai: 'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"choices":[{"del\n\n' }[
      family as 'openai'
    ];
    if (!body) return;
    server.reset({ respond: () => ({ body, quirks: { contentType: 'text/event-stream' } }) });
    const { error } = await failureOf(model(), ask('hello'));
    expect(error.kind).toBe('network');
  });
});

describe('a stream that stops with its last word', () => {
  const bodies = {
    openai: [
      'data:{"choices":[{"delta":{"content":"Hi"}}]}',
      '',
      ': ping',
      '',
      'event: done',
      'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}',
    ],
    anthropic: [
      'data:{"type":"message_start","message":{"role":"assistant","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}',
      '',
      ': ping',
      'data:{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
      '',
      'data:{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}',
      '',
      'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}',
    ],
    responses: [
      'data:{"type":"response.output_text.delta","item_id":"m","delta":"Hi"}',
      '',
      ': ping',
      '',
      'data: {"type":"response.completed","response":{}}',
    ],
  };

  test.each(allFamilies)('%s: no newline, no [DONE], and still a normal end', async (family) => {
    server.script({ body: bodies[family].join('\n'), quirks: { contentType: 'text/event-stream' } });
    const answer = await answerOf(modelFor({ baseUrl: server.baseUrl, family }), ask('hello'));
    expect(answer).toMatchObject({ text: 'Hi', reason: 'stop', calls: [] });
    expect(answer.events.map(({ type }) => type)).toEqual(['text-delta', 'end']);
    expect(server.requests).toHaveLength(1);
  });

  test('that is "error" has failed', async () => {
    server.reset({ respond: () => ({ text: 'Hi', finish: 'error' }) });
    const { error } = await failureOf(modelFor({ baseUrl: server.baseUrl, family: 'openai' }), ask('hello'));
    expect(error.kind).toBe('network');
  });
});

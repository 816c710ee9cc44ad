/** What platforms answer instead of an answer becomes a `ProviderError` that says what happened and what to do. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ProviderErrorKind } from '../../src/providers/provider-error.js';
import { type FakeStep, type LlmServer, startLlmServer } from '../fakes/llm-server/server.mjs';
import { allFamilies, answerOf, ask, failureOf, gate, modelFor } from './wire-ground.js';

let server: LlmServer;
beforeAll(async () => {
  server = await startLlmServer();
});
beforeEach(() => server.reset({ quirks: {}, rules: {}, respond: undefined }));
afterAll(() => server.close());

const statuses: [number, string, ProviderErrorKind][] = [
  [401, 'bad key', 'auth'],
  [403, 'not for you', 'auth'],
  [402, 'Insufficient Balance', 'quota'],
  [429, 'You exceeded your current quota, please check your plan and billing details.', 'quota'],
  [429, 'Rate limit reached', 'rate-limited'],
  [404, 'nothing here', 'not-found'],
  [400, 'Model Not Exist', 'not-found'],
  [413, 'too big', 'context-too-long'],
  [400, "This model's maximum context length is 8192 tokens.", 'context-too-long'],
  [400, 'Output data may contain inappropriate content.', 'content-refused'],
  [400, 'temperature must be at most 2', 'bad-request'],
  [422, 'nonsense', 'bad-request'],
  [408, 'slow', 'overloaded'],
  [409, 'conflict', 'overloaded'],
  [425, 'early', 'overloaded'],
  [500, 'oops', 'overloaded'],
  [503, 'busy', 'overloaded'],
  [529, 'Overloaded', 'overloaded'],
];

describe.each(allFamilies)('%s', (family) => {
  const model = (stream = true) => modelFor({ baseUrl: server.baseUrl, family, stream });
  const always = (step: FakeStep) => server.reset({ respond: () => step });

  test.each(statuses)('HTTP %d "%s" is %s', async (status, message, kind) => {
    always({ status, error: { message } });
    const { error } = await failureOf(model(), ask('hello'));
    expect(error).toMatchObject({ kind, status, code: `model_${kind.replaceAll('-', '_')}` });
    expect(error.message).toContain(message);
    expect(error.message).toMatch(/^fake /);
  });

  test.each([true, false])('an error object inside a 200 is an error with its text (streamed: %s)', async (stream) => {
    always({ error: { message: 'quota exceeded', type: 'insufficient_quota' }, quirks: { errorBody: true } });
    const { error, events } = await failureOf(model(stream), ask('hello'));
    expect(error.kind).toBe('quota');
    expect(error.message).toContain('quota exceeded');
    expect(events).toEqual([]);
  });

  test('an error as first frame of a 200 stream is an error, and may be tried again', async () => {
    server.script({
      error: { message: 'The engine is overloaded', type: 'overloaded_error' },
      quirks: { errorFrame: 'first' },
    });
    const answer = await answerOf(model(), ask('hello'));
    expect(answer.events[0]).toMatchObject({
      type: 'retry',
      attempt: 1,
      reason: expect.stringContaining('The engine is overloaded'),
    });
    expect(answer.text).toBe('ok: hello');
  });

  test('an error after half the text is an error, and nothing is tried again', async () => {
    const error = { message: 'The engine is overloaded', type: 'overloaded_error' };
    const { opened, open } = gate();
    always({ text: ['half ', 'of ', 'it ', 'all'], error, quirks: { errorFrame: 'middle' }, midway: opened });
    const failure = await failureOf(model(), ask('hello'), open);
    expect(failure.error).toMatchObject({ kind: 'overloaded' });
    expect(failure.error.message).toContain('The engine is overloaded');
    expect(failure.events[0]).toEqual({ type: 'text-delta', text: 'half ' });
    expect(failure.events.every(({ type }) => type === 'text-delta')).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    [1004, 'auth', 401],
    [1002, 'rate-limited', 429],
    [1008, 'quota', 402],
    [2013, 'bad-request', 400],
  ] as const)('base_resp %d inside a 200 is %s', async (baseResp, kind, status) => {
    for (const quirks of [{ baseResp }, { baseResp, errorFrame: 'first' as const }]) {
      always({ error: { message: 'as told' }, quirks });
      const { error } = await failureOf(model(), ask('hello'));
      expect(error).toMatchObject({ kind, status });
      expect(error.message).toContain('as told');
    }
  });

  test('a 502 page is told by its title and tried again', async () => {
    server.script({ status: 502, body: '<html><head><title>502 Bad Gateway</title></head></html>' });
    const answer = await answerOf(model(), ask('hello'));
    expect(answer.events[0]).toMatchObject({
      type: 'retry',
      reason: expect.stringMatching(/HTTP 502.*502 Bad Gateway/),
    });
    expect(answer.text).toBe('ok: hello');
  });

  test('a redirect is not followed: the key stays where it belongs', async () => {
    always({ status: 307, body: '', headers: { location: 'http://127.0.0.1:1/v1/' } });
    const { error } = await failureOf(model(), ask('hello'));
    expect(error).toMatchObject({ kind: 'bad-request', status: 307 });
    expect(error.message).toMatch(/redirect.*platforms\.fake\.baseUrl/);
    expect(server.requests).toHaveLength(1);
  });

  test('an unreachable host is a network failure that names host and setting', async () => {
    const closed = http.createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => closed.once('listening', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const unreachable = modelFor({ baseUrl: `http://127.0.0.1:${port}/v1`, family });
    const { error, events } = await failureOf(unreachable, ask('hello'));
    expect(error.kind).toBe('network');
    expect(error.message).toContain(`127.0.0.1:${port}`);
    expect(error.message).toContain('platforms.fake.baseUrl');
    expect(events.map(({ type }) => type)).toEqual(['retry', 'retry']);
  });

  test('a request that the protocol forbids is refused, not retried', async () => {
    const orphan = { role: 'tool' as const, callId: 'c9', name: 'calculator', output: '1', isError: false };
    const request = ask('hello');
    const { error } = await failureOf(model(), { ...request, messages: [...request.messages, orphan] });
    expect(error.kind).toBe('bad-request');
    expect(server.requests).toHaveLength(1);
  });

  test('media that the family cannot take is told', async () => {
    const content = [
      { type: 'media' as const, mimeType: 'video/x-unknown', dataUrl: 'data:video/x-unknown;base64,AAAA' },
    ];
    const { error } = await failureOf(model(), ask('', { messages: [{ role: 'user', content }] }));
    expect(error.kind).toBe('bad-request');
    expect(server.requests).toHaveLength(0);
  });
});

test('a frame that cannot be read is told without its text', async () => {
  const frame = { choices: [{ delta: { content: 7, note: 'private words' } }] };
  const body = `data: ${JSON.stringify(frame)}\n\n`;
  server.reset({ respond: () => ({ body, quirks: { contentType: 'text/event-stream' } }) });
  const { error } = await failureOf(modelFor({ baseUrl: server.baseUrl, family: 'openai' }), ask('hello'));
  expect(error.kind).toBe('bad-request');
  expect(`${error.message} ${String(error.cause)}`).not.toContain('private words');
});

test('with the built-in fetch the same things are told', async () => {
  const model = modelFor({ baseUrl: server.baseUrl, family: 'openai', fetch: globalThis.fetch });
  expect(await answerOf(model, ask('hello'))).toMatchObject({ text: 'ok: hello', reason: 'stop' });
  server.reset({ respond: () => ({ text: ['a', 'b', 'c'], quirks: { close: 'middle' } }) });
  expect((await failureOf(model, ask('hello'))).error.kind).toBe('network');
  const unreachable = modelFor({ baseUrl: 'http://127.0.0.1:1/v1', family: 'openai', fetch: globalThis.fetch });
  expect((await failureOf(unreachable, ask('hello'))).error.kind).toBe('network');
});

/** Keys stay out of errors, logs and other hosts' hands, whatever platforms do with them. */
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LlmServer, startLlmServer } from '../fakes/llm-server/server.mjs';
import { allFamilies, ask, failureOf, modelFor } from './wire-ground.js';

const apiKey = 'sk-very-secret-0123456789abcdef';
const header = 'header-secret-0123456789';

let server: LlmServer;
beforeAll(async () => {
  server = await startLlmServer();
});
afterAll(() => server.close());

const steps = {
  'an error that repeats the key': {
    status: 401,
    error: { message: `Incorrect API key provided: ${apiKey}, ${header}` },
  },
  'an error inside a stream that repeats the key': {
    error: { message: `no: ${apiKey} ${header}` },
    quirks: { errorFrame: 'first' as const },
  },
  'a page that repeats the key': { status: 500, body: `Bearer ${apiKey} ${header}` },
  'a cut connection': { quirks: { close: 'start' as const } },
  'a broken frame': { body: `data: {"x": "${apiKey}"\n\n`, quirks: { contentType: 'text/event-stream' } },
  'a frame of another protocol': {
    body: `data: {"type":"message_start","choices":[7],"x":"${apiKey}"}\n\n`,
    quirks: { contentType: 'text/event-stream' },
  },
};

test.each(allFamilies.flatMap((family) => Object.entries(steps).map(([name, step]) => ({ family, name, step }))))(
  '$family: $name shows no secret',
  async ({ family, step }) => {
    server.reset({ respond: () => step });
    const logged: unknown[] = [];
    const log = {
      info: (...line: unknown[]) => void logged.push(line),
      warn: (...line: unknown[]) => void logged.push(line),
    };
    const baseUrl = `${server.baseUrl}?token=${apiKey}`;
    const model = modelFor({ baseUrl, family, apiKey, headers: { 'x-proxy-token': header }, log });
    const { error, events } = await failureOf(model, ask('hello'));
    const everything = inspect([error, events, logged], { depth: 20, showHidden: true });
    expect(everything).not.toContain('very-secret');
    expect(everything).not.toContain('header-secret');
    expect(server.requests[0]?.headers['x-proxy-token']).toBe(header);
    expect(server.requests[0]?.path).toMatch(/^\/v1\/(chat\/completions|messages|responses)$/);
  },
);

test('the user agent names no other program', async () => {
  server.reset({ respond: undefined });
  for (const family of allFamilies) {
    await modelFor({ baseUrl: server.baseUrl, family })
      .stream(ask('hello'), new AbortController().signal)
      [Symbol.asyncIterator]()
      .next();
    expect(server.requests.at(-1)?.headers['user-agent']).toBe('picobot');
  }
});

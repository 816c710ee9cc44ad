/** An abort ends the call at once, with the caller's own reason, and closes the connection. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createHttpFetch } from '../../src/providers/http-fetch.js';
import { type LlmServer, startLlmServer } from '../fakes/llm-server/server.mjs';
import { allFamilies, answerOf, ask, modelFor } from './wire-ground.js';

let server: LlmServer;
beforeAll(async () => {
  server = await startLlmServer();
});
beforeEach(() => server.reset({ quirks: {}, rules: {}, respond: undefined }));
afterAll(() => server.close());

const reasons = { 'an Error': new Error('stopped by the person'), 'a text': 'stopped', nothing: undefined };

describe.each(allFamilies)('%s', (family) => {
  describe.each([
    ['our fetch', () => createHttpFetch()],
    ['the built-in fetch', () => globalThis.fetch],
  ] as const)('%s', (_name, fetch) => {
    test.each(Object.entries(reasons))('in mid-stream, with %s as reason', async (_reason, reason) => {
      server.script({ text: ['one ', 'two'], quirks: { stall: 'middle' } });
      const controller = new AbortController();
      const events: string[] = [];
      const model = modelFor({ baseUrl: server.baseUrl, family, fetch: fetch() });
      const call = (async () => {
        for await (const event of model.stream(ask('hello'), controller.signal)) {
          events.push(event.type);
          controller.abort(reason);
        }
      })();
      const thrown = await call.catch((error: unknown) => error);
      expect(thrown).toBe(controller.signal.reason);
      expect(events).toEqual(['text-delta']);
      expect(await server.requests[0]?.closed).toBe(true);
    });

    test.each([true, false])('while the platform is silent (streamed: %s)', async (stream) => {
      const controller = new AbortController();
      const reason = new Error('enough');
      server.script(() => {
        controller.abort(reason);
        return { quirks: { stall: 'headers' } };
      });
      const model = modelFor({ baseUrl: server.baseUrl, family, stream, fetch: fetch() });
      await expect(answerOf(model, ask('hello'), controller.signal)).rejects.toBe(reason);
      expect(await server.requests[0]?.closed).toBe(true);
      expect(server.requests).toHaveLength(1);
    });
  });

  test('before the call: nothing is sent', async () => {
    const model = modelFor({ baseUrl: server.baseUrl, family });
    const reason = new Error('too late');
    await expect(answerOf(model, ask('hello'), AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(server.requests).toHaveLength(0);
  });

  test('while waiting to try again: no further attempt', async () => {
    server.script({ status: 503, error: { message: 'busy' } });
    const controller = new AbortController();
    const sleep = (_ms: number, signal: AbortSignal) =>
      new Promise<void>((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('woken')), { once: true });
        controller.abort('not any more');
      });
    const model = modelFor({ baseUrl: server.baseUrl, family, sleep });
    await expect(answerOf(model, ask('hello'), controller.signal)).rejects.toBe('not any more');
    expect(server.requests).toHaveLength(1);
  });

  test('a consumer that stops early closes the connection too', async () => {
    server.script({ text: ['one ', 'two'], quirks: { stall: 'middle' } });
    const model = modelFor({ baseUrl: server.baseUrl, family });
    for await (const _event of model.stream(ask('hello'), new AbortController().signal)) break;
    expect(await server.requests[0]?.closed).toBe(true);
  });

  test('a finished call leaves no listener on the signal', async () => {
    const controller = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = controller.signal;
    controller.signal.addEventListener = (...parts: Parameters<typeof addEventListener>) => {
      listeners++;
      addEventListener.apply(controller.signal, parts);
    };
    controller.signal.removeEventListener = (...parts: Parameters<typeof removeEventListener>) => {
      listeners--;
      removeEventListener.apply(controller.signal, parts);
    };
    for (const stream of [true, false]) {
      await answerOf(modelFor({ baseUrl: server.baseUrl, family, stream }), ask('hello'), controller.signal);
    }
    expect(listeners).toBe(0);
  });
});

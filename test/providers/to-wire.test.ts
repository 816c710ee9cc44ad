/** Any valid conversation becomes a request that the strict servers take, and one more message only adds to its end. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AssistantToolCall } from '../../src/protocol/events.js';
import type { ModelMessage } from '../../src/providers/model.js';
import { type Family, type LlmServer, startLlmServer } from '../fakes/llm-server/server.mjs';
import { allFamilies, answerOf, ask, calculator, modelFor } from './wire-ground.js';

let server: LlmServer;
beforeAll(async () => {
  server = await startLlmServer({ respond: () => ({ text: 'ok' }) });
});
afterAll(() => server.close());

const text = fc
  .oneof(
    fc.string({ minLength: 1 }),
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.constantFrom('你好', '<b>', '"\\', '\n\n', '</context>'),
  )
  .map((value) => `x${value}`);
const user = fc.record({
  role: fc.constant('user' as const),
  content: fc.array(
    fc.oneof(
      { weight: 4, arbitrary: text.map((value) => ({ type: 'text' as const, text: value })) },
      {
        weight: 1,
        arbitrary: fc.constant({
          type: 'media' as const,
          mimeType: 'image/png',
          dataUrl: 'data:image/png;base64,iVBORw0KGgo=',
        }),
      },
    ),
    { minLength: 1, maxLength: 3 },
  ),
});
const call: fc.Arbitrary<AssistantToolCall> = fc.record(
  {
    callId: fc.oneof(fc.uuid(), fc.constantFrom('functions.calculator:0', 'call_0', 'ünïcode 🙂', 'x'.repeat(100))),
    name: fc.constantFrom('calculator', 'current_time'),
    input: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom<unknown>('{"broken', [1], null)),
  },
  { requiredKeys: ['callId', 'name', 'input'] },
);
/** An answer, or calls with their results. */
const step = fc.tuple(
  fc.option(text, { nil: '' }),
  fc.array(call, { maxLength: 3 }),
  fc.array(fc.tuple(text, fc.boolean()), { minLength: 3, maxLength: 3 }),
);

const conversation = fc
  .array(fc.tuple(user, fc.array(step, { maxLength: 3 })), { minLength: 1, maxLength: 4 })
  .map((turns) => {
    const messages: ModelMessage[] = [];
    for (const [message, steps] of turns) {
      messages.push(message);
      for (const [said, calls, outputs] of steps) {
        const unique = calls.filter((one, index) => calls.findIndex((two) => two.callId === one.callId) === index);
        if (said === '' && unique.length === 0) continue;
        messages.push({ role: 'assistant', text: said, toolCalls: unique });
        for (const [index, { callId, name }] of unique.entries()) {
          const [output, isError] = outputs[index]!;
          messages.push({ role: 'tool', callId, name, output, isError });
        }
      }
    }
    const last = messages.at(-1)!;
    return last.role === 'assistant'
      ? [...messages, { role: 'user' as const, content: [{ type: 'text' as const, text: 'go on' }] }]
      : messages;
  });

const listName = { openai: 'messages', anthropic: 'messages', responses: 'input' } as const;

describe.each(allFamilies)('%s', (family) => {
  test('takes every valid conversation', async () => {
    const model = modelFor({ baseUrl: server.baseUrl, family });
    await fc.assert(
      fc.asyncProperty(conversation, async (messages) => {
        expect(await answerOf(model, ask('', { messages }))).toMatchObject({ text: 'ok', reason: 'stop' });
      }),
      { numRuns: 40 },
    );
    expect(server.requests.map(({ refusal }) => refusal).filter(Boolean)).toEqual([]);
  });

  test('gets the same bytes for the same conversation, and an unchanged beginning for a longer one', async () => {
    const model = modelFor({ baseUrl: server.baseUrl, family });
    await fc.assert(
      fc.asyncProperty(conversation, user, async (messages, next) => {
        const before = await bodyOf(model, messages);
        expect(await bodyOf(model, messages)).toBe(before);
        const after = await bodyOf(model, [...messages, { role: 'assistant', text: 'Fine.', toolCalls: [] }, next]);
        expectSamePrefix(family, before, after);
      }),
      { numRuns: 15 },
    );
  });

  test('keeps thinking, tools and system in the unchanged beginning', async () => {
    const model = modelFor({ baseUrl: server.baseUrl, family });
    const tools = [calculator, { ...calculator, name: 'current_time' }];
    const request = ask('first', { tools, thinking: 'low' });
    server.script({ reasoning: 'Hm.', calls: [{ name: 'calculator', input: { b: 1, a: 2 } }] });
    const answer = await answerOf(model, request);
    const first = server.requests.at(-1)!.body;
    const { calls, reasoning, text: said } = answer;
    const messages: ModelMessage[] = [
      ...request.messages,
      { role: 'assistant', text: said, reasoning, toolCalls: calls },
      { role: 'tool', callId: calls[0]!.callId, name: 'calculator', output: '3', isError: false },
    ];
    await answerOf(model, { ...request, messages });
    const second = server.requests.at(-1)!.body;
    expectSamePrefix(family, first, second);
    await answerOf(model, {
      ...request,
      messages: [...messages, { role: 'assistant', text: '3', toolCalls: [] }, ...request.messages],
    });
    expectSamePrefix(family, second, server.requests.at(-1)!.body);
  });

  test('leaves out what is empty', async () => {
    const model = modelFor({ baseUrl: server.baseUrl, family });
    const messages: ModelMessage[] = [
      {
        role: 'user',
        content: [
          { type: 'text', text: '' },
          { type: 'text', text: 'hi' },
        ],
      },
      { role: 'assistant', text: '', toolCalls: [] },
      { role: 'user', content: [{ type: 'text', text: 'again' }] },
      { role: 'assistant', text: '', toolCalls: [{ callId: 'c1', name: 'calculator', input: {} }] },
      { role: 'tool', callId: 'c1', name: 'calculator', output: '', isError: false },
    ];
    expect(await answerOf(model, ask('', { messages, system: '', tools: [] }))).toMatchObject({ text: 'ok' });
    expect(server.requests.at(-1)?.json.tools).toBeUndefined();
  });
});

test('Anthropic: system and tools are marked for the cache, the conversation by one mark that no message carries', async () => {
  await answerOf(modelFor({ baseUrl: server.baseUrl, family: 'anthropic' }), ask('hello'));
  const { system, cache_control, messages, tools } = server.requests.at(-1)!.json;
  expect(system).toEqual([{ type: 'text', text: 'You are a test.', cache_control: { type: 'ephemeral' } }]);
  expect(cache_control).toEqual({ type: 'ephemeral' });
  expect(JSON.stringify([messages, tools])).not.toContain('cache_control');
});

test('Responses: nothing is stored at the platform', async () => {
  await answerOf(modelFor({ baseUrl: server.baseUrl, family: 'responses' }), ask('hello'));
  expect(server.requests.at(-1)?.json.store).toBe(false);
});

async function bodyOf(model: Parameters<typeof answerOf>[0], messages: ModelMessage[]): Promise<string> {
  await answerOf(model, ask('', { messages }));
  return server.requests.at(-1)!.body;
}

/** Byte for byte up to the end of the shorter list of messages; what follows the list does not change either. */
function expectSamePrefix(family: Family, before: string, after: string): void {
  const name = listName[family];
  const [one, two] = [JSON.parse(before), JSON.parse(after)] as Record<string, unknown[]>[];
  const list = JSON.stringify(one![name]).slice(0, -1);
  const start = before.indexOf(`"${name}":${list}`);
  expect(start).toBeGreaterThan(0);
  const end = start + name.length + 3 + list.length;
  // A user message directly after another one joins it where the wire merges them.
  const isMerged = family === 'anthropic' && two![name]!.length === one![name]!.length;
  expect(after.slice(0, isMerged ? end - 2 : end)).toBe(before.slice(0, isMerged ? end - 2 : end));
  expect({ ...two, [name]: [] }).toEqual({ ...one, [name]: [] });
  if (family === 'openai') expect(before.slice(end)).toBe(']}');
}

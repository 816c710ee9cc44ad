import { describe, expect, test } from 'vitest';
import { createDemoModel } from '../../src/providers/demo/demo-model.js';
import type { ModelMessage, ToolSpec } from '../../src/providers/model.js';
import { answerOf, ask, withResults } from './wire-ground.js';

const demo = createDemoModel();
const tool = (name: string, ...properties: string[]): ToolSpec => ({
  name,
  description: name,
  inputSchema: { type: 'object', properties: Object.fromEntries(properties.map((property) => [property, {}])) },
});
const tools = [
  tool('memory_store', 'key', 'content', 'importance'),
  tool('memory_recall', 'query', 'limit'),
  tool('calculator', 'expression'),
  tool('current_time', 'time_zone'),
  tool('file_read', 'path'),
];
const askDemo = (text: string, change = {}) => answerOf(demo, ask(text, { tools, ...change }));

describe('what it says', () => {
  test.each([
    ['hello', /demo model.*add a key/s],
    ['你好', /演示模型.*密钥/s],
  ])('to "%s": that it is a demo and how to add a key, in the language of the person', async (text, pattern) => {
    const { text: said, reason, calls } = await askDemo(text);
    expect(said).toMatch(pattern);
    expect(said).toMatch(/\.env/);
    expect(said).toMatch(/config\.json/);
    expect(said).toMatch(/\.env/);
    expect(reason).toBe('stop');
    expect(calls).toEqual([]);
  });

  test('comes word by word and is the whole text', async () => {
    const { events, text } = await askDemo('hello');
    expect(events.filter(({ type }) => type === 'text-delta').length).toBeGreaterThan(20);
    expect(text).toMatch(/^Hello! .*goes on with it\.$/s);
  });

  test('is shorter the second time', async () => {
    const messages: ModelMessage[] = [
      ...ask('hello').messages,
      { role: 'assistant', text: 'Hello!', toolCalls: [] },
      ...ask('tell me a story').messages,
    ];
    expect((await askDemo('', { messages })).text).toMatch(/^I am only a demo/);
  });
});

describe('what it does', () => {
  test.each([
    ['what is 17*23', 'calculator', { expression: '17*23' }],
    ['17*23等于几', 'calculator', { expression: '17*23' }],
    ['What is (1 + 2.5) * 4?', 'calculator', { expression: '(1 + 2.5) * 4' }],
    ['what is 12 times 12?', 'calculator', { expression: '12 * 12' }],
    ['1,000 + 24', 'calculator', { expression: '1000 + 24' }],
    ['十七？17乘以23是多少', 'calculator', { expression: '17*23' }],
    ['what time is it', 'current_time', {}],
    ['what time is it in Tokyo?', 'current_time', { time_zone: 'Asia/Tokyo' }],
    ['What time is it in Europe/Rome?', 'current_time', { time_zone: 'Europe/Rome' }],
    ['现在几点了？', 'current_time', {}],
    ['东京现在几点', 'current_time', { time_zone: 'Asia/Tokyo' }],
    ['read file notes/today.md', 'file_read', { path: 'notes/today.md' }],
    ['读取文件 notes.txt', 'file_read', { path: 'notes.txt' }],
    ['remember that I like oolong', 'memory_store', { key: 'i like oolong', content: 'I like oolong' }],
    [
      'Please remember: my dog is called Rex.',
      'memory_store',
      { key: 'my dog is called rex', content: 'my dog is called Rex' },
    ],
    ['记住我喜欢乌龙茶', 'memory_store', { key: '我喜欢乌龙茶', content: '我喜欢乌龙茶' }],
    ['请记住：部署在周五', 'memory_store', { key: '部署在周五', content: '部署在周五' }],
    ['what do you know about tea?', 'memory_recall', { query: 'tea' }],
    ['关于茶你知道什么？', 'memory_recall', { query: '茶' }],
    ['你记得我的生日吗', 'memory_recall', { query: '我的生日' }],
    ['what do I like to drink?', 'memory_recall', { query: 'what do I like to drink?' }],
  ])('for "%s" it calls %s', async (text, name, input) => {
    const { calls, reason, text: said } = await askDemo(text);
    expect(calls).toMatchObject([{ name, input }]);
    expect(reason).toBe('tool-calls');
    expect(said).toBe('');
  });

  test.each(['what is 17*23', 'remember that I like tea', 'what time is it'])(
    'without tools, "%s" calls none',
    async (text) => {
      expect(await askDemo(text, { tools: [] })).toMatchObject({ calls: [], reason: 'stop' });
    },
  );

  test('a date is no arithmetic', async () => {
    expect((await askDemo('see you on 2026-03-01')).calls).toEqual([]);
  });
});

describe('after a result', () => {
  test.each([
    ['what is 17*23', '391', '17*23 = 391'],
    ['what time is it', '2026-01-01T09:00:00+09:00 Thursday', 'It is 2026-01-01T09:00:00+09:00 Thursday.'],
    ['现在几点', '2026-01-01T09:00:00+08:00', '现在是 2026-01-01T09:00:00+08:00。'],
    ['remember that I like oolong', 'Remembered as "i like".', 'I will remember: I like oolong.'],
    ['记住我喜欢乌龙茶', '好', '记住了：我喜欢乌龙茶。'],
    [
      'what do you know about tea',
      '- i like: I like oolong (2026-01-01)',
      /^This is what I remember:\n- i like: I like oolong/,
    ],
    ['what do you know about tea', 'Nothing was found.', 'I remember nothing about that yet.'],
    ['read file a.txt', 'content of a', /^The file says:\n\n```\ncontent of a\n```$/],
  ])('for "%s" it answers from it', async (text, output, expected) => {
    const request = ask(text, { tools });
    const answer = await answerOf(demo, request);
    const { text: said, calls } = await answerOf(demo, {
      ...request,
      messages: withResults(request.messages, answer, [output]),
    });
    expect(calls).toEqual([]);
    if (typeof expected === 'string') expect(said).toBe(expected);
    else expect(said).toMatch(expected);
  });

  test('that is an error it says so', async () => {
    const request = ask('what is 1/0*1', { tools });
    const answer = await answerOf(demo, request);
    const messages = withResults(request.messages, answer, ['division by zero']).map((message) =>
      message.role === 'tool' ? { ...message, isError: true } : message,
    );
    expect((await answerOf(demo, { ...request, messages })).text).toBe('That did not work: division by zero');
  });

  test('of an earlier turn it looks at the new question only', async () => {
    const request = ask('what is 17*23', { tools });
    const answer = await answerOf(demo, request);
    const messages = [...withResults(request.messages, answer, ['391']), ...ask('what is 2+2').messages];
    expect((await answerOf(demo, { ...request, messages })).calls).toMatchObject([{ input: { expression: '2+2' } }]);
  });
});

describe('the context block', () => {
  const context =
    '<context>\nTime: 2026-01-01 09:00 Thursday, UTC\nMemories:\n- i like: I like oolong\n- sum: 17*23 is easy\n</context>';

  test('is no part of what the person said', async () => {
    expect((await askDemo(`hello\n\n${context}`)).calls).toEqual([]);
    expect((await askDemo(`[speaker id="1" name="Ann"]\nwhat is 2+2\n\n${context}`)).calls).toMatchObject([
      { input: { expression: '2+2' } },
    ]);
  });

  test('answers questions about the person', async () => {
    const { text, calls } = await askDemo(`what do I like?\n\n${context}`);
    expect(calls).toEqual([]);
    expect(text).toMatch(/^You told me: \n- I like oolong/);
    expect((await askDemo(`我喜欢什么？\n\n${context}`)).text).toMatch(/^你告诉过我：/);
  });
});

test('an abort stops it at once', async () => {
  const controller = new AbortController();
  const events: string[] = [];
  const call = (async () => {
    for await (const event of demo.stream(ask('hello'), controller.signal)) {
      events.push(event.type);
      controller.abort('enough');
    }
  })();
  await expect(call).rejects.toBe('enough');
  expect(events).toHaveLength(1);
});

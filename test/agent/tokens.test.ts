import { expect, test } from 'vitest';
import { estimateTokens } from '../../src/agent/estimate-tokens.js';
import { builtInEstimator, createTokenMeter, estimateMessage, estimateRequest } from '../../src/agent/tokens.js';
import type { ModelMessage } from '../../src/providers/model.js';
import { tokenSamples } from './token-samples.js';

const user = (text: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const assistant = (text: string): ModelMessage => ({ role: 'assistant', text, toolCalls: [] });
const prose = tokenSamples['English prose']!.text;

test.each(Object.entries(tokenSamples))('%s is estimated within 15 %% of the tokenizer', (_name, { text, tokens }) => {
  const estimated = estimateTokens(text);
  expect(estimated).toBeGreaterThan(tokens * 0.85);
  expect(estimated).toBeLessThan(tokens * 1.15);
});

test('a text costs something, nothing costs nothing, and more text never costs less', () => {
  expect(estimateTokens('')).toBe(0);
  expect(estimateTokens('a')).toBe(1);
  expect(estimateTokens('\ud83d')).toBe(1);
  for (const { text } of Object.values(tokenSamples)) {
    for (let length = 1; length < text.length; length += 7) {
      expect(estimateTokens(text.slice(0, length))).toBeLessThanOrEqual(estimateTokens(text));
    }
  }
});

test('the estimate grows with the length alone, whatever the text', () => {
  for (const unit of ['a', ' ', '\n', '-', '7', '字', 'word ', 'aB3', '\0']) {
    const one = estimateTokens(unit.repeat(10_000));
    expect(estimateTokens(unit.repeat(20_000))).toBeLessThanOrEqual(one * 2 + 1);
    expect(one).toBeLessThanOrEqual(10_000 * unit.length);
  }
});

test('5 MB of text are estimated in a fraction of a second', () => {
  const text = Object.values(tokenSamples)
    .map((sample) => sample.text)
    .join('\n');
  const large = Buffer.from(text.repeat(Math.ceil(5e6 / Buffer.byteLength(text)))).toString();
  estimateTokens(large);
  const times = [1, 2, 3].map(() => {
    const startedAt = performance.now();
    estimateTokens(large);
    return performance.now() - startedAt;
  });
  expect(Math.min(...times)).toBeLessThan(250);
});

test('a message counts its text, calls, reasoning and media', () => {
  const call = { callId: 'c', name: 'file_read', input: { path: 'a.txt' } };
  const plain = estimateMessage(builtInEstimator, assistant('hello'));
  expect(estimateMessage(builtInEstimator, { role: 'assistant', text: 'hello', toolCalls: [call] })).toBeGreaterThan(
    plain + 10,
  );
  const reasoning = [{ text: prose }];
  const thinking: ModelMessage = { role: 'assistant', text: 'hello', reasoning, toolCalls: [] };
  expect(estimateMessage(builtInEstimator, thinking)).toBeGreaterThan(plain + 100);
  const small = { type: 'media', mimeType: 'image/png', dataUrl: 'data:image/png;base64,AAAA' } as const;
  const large = { ...small, dataUrl: `${small.dataUrl}${'A'.repeat(100_000)}` };
  const sizes = [small, large].map((part) => estimateMessage(builtInEstimator, { role: 'user', content: [part] }));
  expect(sizes[0]).toBe(sizes[1]);
  expect(sizes[0]).toBeGreaterThan(1000);
});

test('a request counts system prompt, tools and messages', () => {
  const empty = { system: '', tools: [], messages: [] };
  const tools = [{ name: 'file_read', description: prose, inputSchema: { type: 'object' } }];
  expect(estimateRequest(builtInEstimator, empty)).toBe(0);
  expect(estimateRequest(builtInEstimator, { ...empty, system: prose })).toBeGreaterThan(130);
  expect(estimateRequest(builtInEstimator, { ...empty, tools })).toBeGreaterThan(140);
  expect(estimateRequest(builtInEstimator, { ...empty, messages: [user(prose)] })).toBeGreaterThan(130);
});

test('the provider’s count anchors; the estimate covers what came after it', () => {
  const meter = createTokenMeter();
  const tools: [] = [];
  const before = [user(prose)];
  const first = meter.measure({ system: 's', tools, messages: before });
  meter.record({ inputTokens: first + 50, outputTokens: 70 });
  expect(meter.measure({ system: 's', tools, messages: before })).toBe(first + 50);

  const after = [...before, assistant('a short answer'), user(prose)];
  const added = estimateMessage(builtInEstimator, after[2]!);
  expect(meter.measure({ system: 's', tools, messages: after })).toBe(first + 50 + 70 + added);
});

test('reasoning that is not kept does not count as part of the conversation', () => {
  const meter = createTokenMeter();
  const before = [user(prose)];
  const first = meter.measure({ system: '', tools: [], messages: before });
  meter.record({ inputTokens: first, outputTokens: 5020, reasoningTokens: 5000 });
  expect(meter.measure({ system: '', tools: [], messages: [...before, assistant('short')] })).toBe(first + 20);
});

test('after a compaction the estimate is brought to the provider’s scale', () => {
  const meter = createTokenMeter();
  const long = [user(prose), assistant(prose), user(prose)];
  const estimated = meter.measure({ system: '', tools: [], messages: long });
  meter.record({ inputTokens: estimated * 2 });
  const short = [user('brief')];
  const expected = estimateRequest(builtInEstimator, { system: '', tools: [], messages: short }) * 2;
  expect(meter.measure({ system: '', tools: [], messages: short })).toBe(expected);
  expect(meter.estimator.estimate(prose)).toBe(estimateTokens(prose) * 2);
});

test('a provider that counts nothing, or nonsense, leaves the estimate alone', () => {
  const meter = createTokenMeter();
  const request = { system: '', tools: [], messages: [user(prose)] };
  const estimated = meter.measure(request);
  for (const usage of [{}, { outputTokens: 9 }, { inputTokens: 0 }, { inputTokens: 1_000_000 }]) {
    meter.record(usage);
    expect(meter.measure(request)).toBe(estimated);
  }
});

test('an exact tokenizer can take the place of the estimate', () => {
  const meter = createTokenMeter({ estimate: (text) => text.length });
  expect(meter.measure({ system: '12345', tools: [], messages: [] })).toBe(5);
});

import { expect, test } from 'vitest';
import { toModelMessages } from '../../src/agent/conversation.js';
import { runAgent } from '../../src/agent/loop.js';
import { ProviderError } from '../../src/providers/provider-error.js';
import {
  call,
  end,
  question,
  results,
  run,
  say,
  scriptedModel,
  stored,
  tool,
  types,
  userMessage,
} from './scripted-run.js';

const echo = tool('echo', ({ value }) => `echo ${String(value)}`);

test('an answer streams out, is yielded whole, and ends the run', async () => {
  const model = scriptedModel([
    [
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'text-delta', text: 'Hel' },
      { type: 'text-delta', text: '' },
      { type: 'text-delta', text: 'lo' },
      { type: 'reasoning', parts: [{ text: 'hm', metadata: { signature: 's' } }] },
      end(),
    ],
  ]);
  const { events, result } = await run({ model });
  expect(events).toEqual([
    { type: 'reasoning-delta', step: 1, text: 'hm' },
    { type: 'text-delta', step: 1, text: 'Hel' },
    { type: 'text-delta', step: 1, text: 'lo' },
    {
      type: 'assistant-message',
      step: 1,
      text: 'Hello',
      reasoning: [{ text: 'hm', metadata: { signature: 's' } }],
      toolCalls: [],
      deltas: [],
    },
    { type: 'usage', step: 1, model: 'test/model', usage: { inputTokens: 10, outputTokens: 2 } },
  ]);
  expect(result).toEqual({ stopReason: 'end_turn', text: 'Hello', usage: { inputTokens: 10, outputTokens: 2 } });
});

test('a tool runs between two steps, and the model gets its result', async () => {
  const model = scriptedModel([
    [{ type: 'text-delta', text: 'Let me see.' }, call('echo', { value: 1 }), end('tool-calls')],
    say('It is 1.'),
  ]);
  const { events, result } = await run({ model, tools: [echo] });
  expect(types(events)).toEqual([
    'text-delta',
    'assistant-message',
    'usage',
    'tool-call',
    'tool-result',
    'text-delta',
    'assistant-message',
    'usage',
  ]);
  expect(results(events)).toEqual(['echo done: echo 1']);
  expect(model.requests[1]?.messages).toEqual([
    question,
    { role: 'assistant', text: 'Let me see.', toolCalls: [{ callId: 'call_echo', name: 'echo', input: { value: 1 } }] },
    { role: 'tool', callId: 'call_echo', name: 'echo', output: 'echo 1', isError: false },
  ]);
  expect(result).toEqual({ stopReason: 'end_turn', text: 'It is 1.', usage: { inputTokens: 20, outputTokens: 4 } });
});

test('the presence of calls decides, not the end reason', async () => {
  const model = scriptedModel([[call('echo', { value: 1 }), end('stop')], say('done', 'tool-calls')]);
  const { events, result } = await run({ model, tools: [echo] });
  expect(results(events)).toEqual(['echo done: echo 1']);
  expect(result.stopReason).toBe('end_turn');
});

test('each event is stored before anything that depends on it begins', async () => {
  const log: string[] = [];
  const slow = tool('slow', () => {
    log.push('tool runs');
    return 'ok';
  });
  const model = scriptedModel([[call('slow'), end()], say('done')]);
  await run({
    model,
    tools: [slow],
    async onEvent(event) {
      await Promise.resolve();
      log.push(event.type);
    },
  });
  expect(log.slice(0, 5)).toEqual(['assistant-message', 'usage', 'tool-call', 'tool runs', 'tool-result']);
});

test('what the next request holds is what the stored events give', async () => {
  const failing = tool('failing', () => {
    throw new Error('bug');
  });
  const model = scriptedModel([
    [
      { type: 'text-delta', text: ' \n' },
      call('echo', { value: '😀'.repeat(40_000) }, 'x'),
      call('failing', {}, 'x'),
      end(),
    ],
    [
      { type: 'reasoning', parts: [{ text: 'r' }] },
      { type: 'text-delta', text: 'a\ud83d\0' },
      call('no.such', [], ''),
      end(),
    ],
    [{ type: 'tool-call', callId: 'x', name: 'echo', input: '{"va', invalid: 'cut off' }, end('length')],
    say('done'),
  ]);
  const { events } = await run({ model, tools: [echo, failing] });
  const bodies = [userMessage(), ...events];
  for (const request of model.requests) {
    const count = request.messages.length;
    expect(toModelMessages(stored(bodies)).slice(0, count)).toEqual(request.messages);
  }
  expect(model.requests).toHaveLength(4);
});

test('the same call id twice becomes two ids, in stored events and requests alike', async () => {
  const model = scriptedModel([[call('echo', { value: 1 }, 'c'), call('echo', { value: 2 }, 'c'), end()], say('done')]);
  const { events } = await run({ model, tools: [echo] });
  expect(results(events)).toEqual(['echo done: echo 1', 'echo done: echo 2']);
  const ids = events.flatMap((event) => (event.type === 'tool-result' ? [event.callId] : []));
  expect(ids).toEqual(['c', 'c_2']);
});

test('retries and fallbacks are passed on', async () => {
  const model = scriptedModel([
    [
      { type: 'retry', attempt: 1, waitMs: 500, reason: 'overloaded' },
      { type: 'fallback', from: 'test/model', to: 'test/other', reason: 'overloaded' },
      ...say('hi'),
    ],
  ]);
  const { events } = await run({ model });
  expect(events.slice(0, 2)).toEqual([
    { type: 'model-retry', model: 'test/model', attempt: 1, waitMs: 500, reason: 'overloaded' },
    { type: 'model-fallback', from: 'test/model', to: 'test/other', reason: 'overloaded' },
  ]);
});

test('at the step limit the run ends after its tools, with the text so far', async () => {
  let count = 0;
  const counter = tool('counter', () => `${++count}`);
  const model = scriptedModel([[{ type: 'text-delta', text: 'counting' }, call('counter'), end()]]);
  const { result, events } = await run({ model, tools: [counter], limits: { maxSteps: 3 } });
  expect(result).toMatchObject({ stopReason: 'max_turns', text: 'counting' });
  expect(model.requests).toHaveLength(3);
  expect(results(events)).toHaveLength(3);
});

test('the same call with the same result three times in a row is no progress', async () => {
  const model = scriptedModel([[call('echo', { value: 1 }), end()]]);
  const { result } = await run({ model, tools: [echo] });
  expect(result.stopReason).toBe('no_progress');
  expect(model.requests).toHaveLength(3);
});

test('a cycle of calls repeated three times is no progress; changing results are progress', async () => {
  const cycle = [1, 2, 3].map((value) => [call('echo', { value }), end()]);
  const model = scriptedModel([...cycle, ...cycle, ...cycle, ...cycle]);
  expect((await run({ model, tools: [echo] })).result.stopReason).toBe('no_progress');
  expect(model.requests).toHaveLength(9);

  let count = 0;
  const poll = tool('poll', () => `${++count}`);
  const polling = scriptedModel([...Array.from({ length: 9 }, () => [call('poll'), end()]), say('ready')]);
  expect((await run({ model: polling, tools: [poll] })).result).toMatchObject({
    stopReason: 'end_turn',
    text: 'ready',
  });
});

test('a model error ends the run with its code; the text so far is kept', async () => {
  const model = scriptedModel([
    async function* () {
      yield { type: 'text-delta', text: 'Half of' };
      throw new ProviderError('quota', 'Out of money. Top up the account.');
    },
  ]);
  const { events, result } = await run({ model });
  expect(types(events)).toEqual(['text-delta', 'assistant-message']);
  expect(result).toEqual({
    stopReason: 'model_error',
    text: 'Half of',
    usage: {},
    error: { code: 'model_quota', message: 'Out of money. Top up the account.' },
  });
});

test('a stream that ends without its end is an error, and no empty message is yielded', async () => {
  const { events, result } = await run({ model: scriptedModel([[call('echo', { value: 1 })]]), tools: [echo] });
  expect(events).toEqual([]);
  expect(result).toMatchObject({ stopReason: 'model_error', error: { code: 'model_network' } });
});

test('an answer that was filtered away is an error, not an empty answer', async () => {
  const { result } = await run({ model: scriptedModel([[end('content-filter')]]) });
  expect(result).toMatchObject({ stopReason: 'model_error', error: { code: 'model_content_refused' } });
});

test("a bug of the model's is thrown", async () => {
  const model = scriptedModel([
    // biome-ignore lint/correctness/useYield: it throws before it can
    async function* () {
      throw new TypeError('bug');
    },
  ]);
  await expect(run({ model })).rejects.toThrow('bug');
});

test('an empty last step leaves the text that was said before it', async () => {
  const model = scriptedModel([[{ type: 'text-delta', text: 'Noted.' }, call('echo'), end()], [end()]]);
  expect((await run({ model, tools: [echo] })).result).toMatchObject({ stopReason: 'end_turn', text: 'Noted.' });
});

test('usage that nobody told stays unknown', async () => {
  const model = scriptedModel([[{ type: 'end', reason: 'stop', model: 'm', usage: { outputTokens: 1 } }]]);
  expect((await run({ model })).result.usage).toEqual({ outputTokens: 1 });
});

test('stop in mid-text: the partial text is yielded, even when the model hangs', async () => {
  const controller = new AbortController();
  const model = scriptedModel([
    async function* () {
      yield { type: 'text-delta', text: 'Once upon\ud83d' };
      yield call('echo');
      await new Promise(() => {});
    },
  ]);
  const { events, result } = await run({
    model,
    tools: [echo],
    signal: controller.signal,
    onEvent: () => void setImmediate(() => controller.abort()),
  });
  expect(events.at(-1)).toEqual({
    type: 'assistant-message',
    step: 1,
    text: 'Once upon\ufffd',
    toolCalls: [],
    deltas: [],
  });
  expect(result).toEqual({ stopReason: 'cancelled', text: 'Once upon\ufffd', usage: {} });
});

test('a time limit says so', async () => {
  const controller = new AbortController();
  controller.abort(new DOMException('too long', 'TimeoutError'));
  const model = scriptedModel([say('hi')]);
  expect((await run({ model, signal: controller.signal })).result).toEqual({
    stopReason: 'timeout',
    text: '',
    usage: {},
  });
  expect(model.requests).toHaveLength(0);
});

test('a stop while the answer is being stored still ends as an answer', async () => {
  const controller = new AbortController();
  const { result } = await run({
    model: scriptedModel([say('done')]),
    signal: controller.signal,
    onEvent: (event) => {
      if (event.type === 'assistant-message') controller.abort();
    },
  });
  expect(result).toMatchObject({ stopReason: 'end_turn', text: 'done' });
});

test('the checkpoints come in order', async () => {
  const log: string[] = [];
  const model = scriptedModel([
    [{ type: 'text-delta', text: 'a' }, { type: 'text-delta', text: 'b' }, call('echo'), end()],
    say('c'),
  ]);
  await run({
    model,
    tools: [echo],
    deps: { checkpoint: (name) => void log.push(name) },
    onEvent: (event) => void log.push(event.type),
  });
  expect(log.slice(0, 10)).toEqual([
    'before-model-call',
    'text-delta',
    'during-model-call',
    'text-delta',
    'after-model-call',
    'assistant-message',
    'usage',
    'tool-call',
    'before-tool',
    'after-tool',
  ]);
});

test('a consumer that walks away stops model and tools', async () => {
  let isModelLeft = false;
  const model = scriptedModel([
    async function* () {
      try {
        yield { type: 'text-delta', text: 'a' };
        yield end();
      } finally {
        isModelLeft = true;
      }
    },
  ]);
  const description = {
    runId: 'r',
    sessionId: 's',
    system: '',
    messages: [question],
    model,
    tools: [],
    actor: { channel: 'c', chatId: 'c', chatType: 'direct' as const, userId: 'u', role: 'owner' as const },
    thinking: 'off' as const,
    limits: { maxSteps: 5, stepsDone: 0 },
  };
  const deps = { now: () => 0, checkpoint: () => {}, reportBug: () => {} };
  for await (const _event of runAgent(description, deps, new AbortController().signal)) break;
  expect(isModelLeft).toBe(true);
});

test('a run taken up again goes on after its finished steps', async () => {
  const model = scriptedModel([say('done')]);
  const messages = toModelMessages(
    stored([
      userMessage(),
      {
        type: 'assistant-message',
        step: 1,
        text: 'Looking.',
        toolCalls: [{ callId: 'c', name: 'echo', input: {} }],
        deltas: [],
      },
      { type: 'tool-call', step: 1, callId: 'c', name: 'echo', input: {} },
    ]),
  );
  const { events, result } = await run({ model, tools: [echo], messages, limits: { stepsDone: 1 } });
  expect(model.requests[0]?.messages.at(-1)).toMatchObject({ role: 'tool', callId: 'c', isError: true });
  expect(events.every((event) => 'step' in event && event.step === 2)).toBe(true);
  expect(result).toMatchObject({ stopReason: 'end_turn', text: 'done' });
});

test('a run that was answered before the crash does not ask again', async () => {
  const model = scriptedModel([say('again')]);
  const answer = { role: 'assistant', text: 'Answer.', toolCalls: [] } as const;
  const { events, result } = await run({
    model,
    messages: [question, { ...answer, toolCalls: [] }],
    limits: { stepsDone: 1 },
  });
  expect({ events, result }).toEqual({ events: [], result: { stopReason: 'end_turn', text: 'Answer.', usage: {} } });
  expect(model.requests).toHaveLength(0);
});

test('limits count the steps of earlier attempts', async () => {
  const messages = [
    question,
    ...[1, 2, 3].flatMap((step) => [
      { role: 'assistant' as const, text: '', toolCalls: [{ callId: `c${step}`, name: 'echo', input: { value: 1 } }] },
      { role: 'tool' as const, callId: `c${step}`, name: 'echo', output: 'echo 1', isError: false },
    ]),
  ];
  const model = scriptedModel([say('more')]);
  const stuck = await run({ model, messages, limits: { stepsDone: 3 } });
  expect(stuck.result.stopReason).toBe('no_progress');
  const atLimit = await run({ model, messages: messages.slice(0, 5), limits: { stepsDone: 2, maxSteps: 2 } });
  expect(atLimit.result.stopReason).toBe('max_turns');
  expect(model.requests).toHaveLength(0);
});

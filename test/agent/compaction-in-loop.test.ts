import { expect, test, vi } from 'vitest';
import { compact } from '../../src/agent/compaction/compact.js';
import { toEntries } from '../../src/agent/conversation.js';
import type { LoopEvent } from '../../src/agent/run-description.js';
import type { ModelEvent, ModelMessage, ModelRequest } from '../../src/providers/model.js';
import { ProviderError } from '../../src/providers/provider-error.js';
import { afterwards, complaintsOf, inputOf, user, words } from './compaction-dialogs.js';
import { call, end, question, run, say, scriptedModel, stored, tool, userMessage } from './scripted-run.js';

const tooLong = () => new ProviderError('context-too-long', 'maximum context length is 10 tokens');

/** Refuses the request, after `events` where given. */
function refusing(...events: ModelEvent[]) {
  return async function* (): AsyncGenerator<ModelEvent> {
    yield* events;
    throw tooLong();
  };
}

const short: ModelMessage[] = [user('short')];

test('a request that is too large is compacted before it is sent, and the run goes on with the smaller one', async () => {
  const model = scriptedModel([[call('echo'), end('tool-calls')], say('Done.')]);
  const isTooLarge = vi.fn((messages: readonly ModelMessage[]) => messages.length === 3);
  const compacting = vi.fn(async () => short);
  const { events, result } = await run({
    model,
    tools: [tool('echo', () => 'echoed')],
    context: { isTooLarge, compact: compacting },
  });
  expect(result).toMatchObject({ stopReason: 'end_turn', text: 'Done.' });
  expect(compacting.mock.calls).toEqual([['size', expect.any(AbortSignal)]]);
  expect(model.requests.map((request) => request.messages.length)).toEqual([1, 1]);
  expect(model.requests[1]!.messages).toEqual(short);
  expect(events.at(-2)).toMatchObject({ type: 'assistant-message', text: 'Done.' });
});

test('when nothing can be made smaller the request goes out as it is', async () => {
  const model = scriptedModel([say('Fine.')]);
  const context = { isTooLarge: () => true, compact: async () => undefined };
  const { result } = await run({ model, context });
  expect(result.stopReason).toBe('end_turn');
  expect(model.requests[0]!.messages).toEqual([question]);
});

test('a request that the platform refuses as too large is compacted and sent again, as the same step', async () => {
  const model = scriptedModel([refusing(), refusing(), say('Done.')]);
  const reasons: string[] = [];
  const context = {
    compact: async (reason: string) => {
      reasons.push(reason);
      return short;
    },
  };
  const { events, result } = await run({ model, context });
  expect(reasons).toEqual(['overflow', 'overflow']);
  expect(result).toMatchObject({ stopReason: 'end_turn', text: 'Done.' });
  expect(events.map((event) => [event.type, 'step' in event ? event.step : 0])).toEqual([
    ['text-delta', 1],
    ['assistant-message', 1],
    ['usage', 1],
  ]);
});

test('after two compactions, or one that cannot, the run ends with what to do', async () => {
  for (const [outcome, count] of [
    [short, 2],
    [undefined, 1],
  ] as const) {
    const compacting = vi.fn(async () => outcome && [...outcome]);
    const model = scriptedModel([refusing()]);
    const { events, result } = await run({ model, context: { compact: compacting } });
    expect(compacting).toHaveBeenCalledTimes(count);
    expect(model.requests).toHaveLength(count === 2 ? 3 : 1);
    expect(events).toEqual([]);
    expect(result).toMatchObject({
      stopReason: 'model_error',
      error: { code: 'context_too_long', message: expect.stringContaining('/new') },
    });
  }
});

test('the next step may be compacted twice again', async () => {
  const calls = [call('echo'), end('tool-calls')];
  const model = scriptedModel([refusing(), refusing(), calls, refusing(), refusing(), say('Done.')]);
  const { result } = await run({
    model,
    tools: [tool('echo', () => 'echoed')],
    context: { compact: async () => [...short] },
  });
  expect(result.stopReason).toBe('end_turn');
});

test('a refusal in mid-text, or without anyone to compact, is the model’s error', async () => {
  const compacting = vi.fn(async () => short);
  const inText = scriptedModel([refusing({ type: 'text-delta', text: 'Well' })]);
  const first = await run({ model: inText, context: { compact: compacting } });
  const second = await run({ model: scriptedModel([refusing()]) });
  expect(first.result).toMatchObject({ text: 'Well', error: { code: 'model_context_too_long' } });
  expect(second.result).toMatchObject({ error: { code: 'model_context_too_long' } });
  expect(compacting).not.toHaveBeenCalled();
});

test.each(['size', 'overflow'] as const)(
  'a stop during a compaction because of %s ends the run at once',
  async (reason) => {
    const controller = new AbortController();
    const model = scriptedModel([reason === 'size' ? say('never') : refusing()]);
    const context = {
      isTooLarge: () => reason === 'size',
      compact: async (_reason: string, signal: AbortSignal): Promise<undefined> => {
        controller.abort(new Error('stop'));
        signal.throwIfAborted();
      },
    };
    const { result } = await run({ model, context, signal: controller.signal });
    expect(result.stopReason).toBe('cancelled');
    expect(result.error).toBeUndefined();
  },
);

test('a bug in the compaction is thrown, not taken for the platform’s refusal', async () => {
  const context = {
    compact: async () => {
      throw new TypeError('bug');
    },
  };
  await expect(run({ model: scriptedModel([refusing()]), context })).rejects.toThrow('bug');
});

test('a long run over a model with a small window ends well, with valid requests and few breaks of the prefix', async () => {
  const limit = 12_000;
  const steps = 60;
  const requests: ModelRequest[] = [];
  const model = {
    id: 'test/small',
    async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
      if (JSON.stringify(request.messages).length > limit) throw tooLong();
      requests.push(structuredClone(request));
      const count = requests.length;
      if (count > steps) yield* say('All parts are checked.');
      else yield* [call('check', { value: count }, `call_${count}`), end('tool-calls')];
    },
  };
  const bodies: Parameters<typeof stored>[0][number][] = [userMessage('Check all parts.')];
  let checkpoint: { to: number; messages: ModelMessage[] } | undefined;
  let compactions = 0;
  const { result } = await run({
    model,
    limits: { maxSteps: 100 },
    messages: toEntries(stored(bodies)).map((entry) => entry.message),
    tools: [tool('check', ({ value }) => `part ${value}: ${words(120, Number(value))}`)],
    onEvent: (event: LoopEvent) => {
      bodies.push(event);
    },
    context: {
      compact: async (reason, signal) => {
        compactions += 1;
        const entries = toEntries(stored(bodies), checkpoint);
        const input = inputOf([], {
          entries,
          reason,
          contextWindow: 100_000,
          summarise: async () => 'Checked so far.',
        });
        const outcome = await compact(input, signal);
        if (outcome.kind !== 'compacted') return undefined;
        checkpoint = outcome;
        return afterwards(entries, outcome);
      },
    },
  });
  expect(result).toMatchObject({ stopReason: 'end_turn', text: 'All parts are checked.' });
  let breaks = 0;
  for (const [index, { messages }] of requests.entries()) {
    expect(complaintsOf(messages)).toEqual([]);
    const before = JSON.stringify(requests[index - 1]?.messages ?? []).slice(0, -1);
    if (!JSON.stringify(messages).startsWith(before)) breaks += 1;
  }
  expect(breaks).toBe(compactions);
  expect(compactions).toBeGreaterThan(1);
  expect(compactions).toBeLessThan(10);
});

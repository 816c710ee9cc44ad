import { afterEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { defineTool, type Tool, ToolError } from '../../src/tools/tool.js';
import { call, end, results, run, say, scriptedModel, tool, types } from './scripted-run.js';

afterEach(() => {
  vi.useRealTimers();
});

/** One step with these calls, then an answer. */
const modelThatCalls = (...calls: ReturnType<typeof call>[]) => scriptedModel([[...calls, end()], say('done')]);

const neverEnds = () => new Promise<string>(() => {});

/** Ends with an error when its signal aborts, as a well-behaved tool does. */
const untilAbort = (signal: AbortSignal) =>
  new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

/** A tool whose calls end when the test says so, by their `value`. */
function heldTool(name: string, isReadOnly: boolean) {
  const running = new Map<unknown, () => void>();
  const log: string[] = [];
  const held = tool(
    name,
    ({ value }) =>
      new Promise((resolve) => {
        log.push(`start ${value}`);
        running.set(value, () => {
          running.delete(value);
          log.push(`end ${value}`);
          resolve(`result ${value}`);
        });
      }),
    { isReadOnly },
  );
  return { held, running, log };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('read-only neighbours run side by side, their results come in call order', async () => {
  const { held, running } = heldTool('read', true);
  const model = modelThatCalls(
    call('read', { value: 1 }, 'a'),
    call('read', { value: 2 }, 'b'),
    call('read', { value: 3 }, 'c'),
  );
  const ended = run({ model, tools: [held] });
  await settle();
  expect([...running.keys()]).toEqual([1, 2, 3]);
  for (const value of [3, 1, 2]) running.get(value)?.();
  const { events } = await ended;
  expect(types(events).slice(2, 8)).toEqual([
    'tool-call',
    'tool-call',
    'tool-call',
    'tool-result',
    'tool-result',
    'tool-result',
  ]);
  expect(results(events)).toEqual(['read done: result 1', 'read done: result 2', 'read done: result 3']);
});

test('a result is yielded as soon as those before it are', async () => {
  const { held, running } = heldTool('read', true);
  const seen: string[] = [];
  const ended = run({
    model: modelThatCalls(call('read', { value: 1 }, 'a'), call('read', { value: 2 }, 'b')),
    tools: [held],
    onEvent: (event) => void (event.type === 'tool-result' && seen.push(event.output)),
  });
  await settle();
  running.get(1)?.();
  await settle();
  expect(seen).toEqual(['result 1']);
  running.get(2)?.();
  await ended;
});

test('at most eight run at once', async () => {
  const { held, running } = heldTool('read', true);
  const calls = Array.from({ length: 20 }, (_, value) => call('read', { value }, `c${value}`));
  const ended = run({ model: modelThatCalls(...calls), tools: [held] });
  let most = 0;
  for (let left = 20; left > 0; left -= 1) {
    await settle();
    most = Math.max(most, running.size);
    running.values().next().value?.();
  }
  expect(most).toBe(8);
  expect(results((await ended).events)).toEqual(calls.map((_, value) => `read done: result ${value}`));
});

test('calls that change something run one by one, and never beside another', async () => {
  const reading = heldTool('read', true);
  const writing = heldTool('write', false);
  const model = modelThatCalls(
    call('read', { value: 1 }, 'a'),
    call('read', { value: 2 }, 'b'),
    call('write', { value: 3 }, 'c'),
    call('write', { value: 4 }, 'd'),
    call('read', { value: 5 }, 'e'),
  );
  const ended = run({ model, tools: [reading.held, writing.held] });
  const atOnce: unknown[][] = [];
  for (let round = 0; round < 4; round += 1) {
    await settle();
    atOnce.push([...reading.running.keys(), ...writing.running.keys()]);
    for (const end of [...reading.running.values(), ...writing.running.values()]) end();
  }
  await ended;
  expect(atOnce).toEqual([[1, 2], [3], [4], [5]]);
});

test('calls that cannot run tell the model why, and nothing runs', async () => {
  let runs = 0;
  const strict = defineTool({
    name: 'strict',
    description: 'strict',
    input: z.strictObject({ count: z.int().min(1), name: z.string() }),
    isReadOnly: false,
    run: async () => `${++runs}`,
  }) as Tool;
  const { events } = await run({
    model: modelThatCalls(
      call('strict', { count: 'many', nam: 'x' }, 'a'),
      call('strict', 'text', 'b'),
      { ...call('strict', '{"coun', 'c'), invalid: 'Unexpected end of JSON input.' } as ReturnType<typeof call>,
      call('stricter', {}, 'd'),
    ),
    tools: [strict],
  });
  const [wrongFields, notObject, notJson, unknown] = results(events);
  expect(wrongFields).toMatch(/^strict failed: .*count: .*number.*name: .*string.*"nam"/s);
  expect(notObject).toMatch(/^strict failed: .*expected object/s);
  expect(notJson).toBe(
    'strict failed: The arguments are not valid JSON: Unexpected end of JSON input. Nothing ran. Send the call again.',
  );
  expect(unknown).toBe('stricter failed: There is no tool called "stricter". The tools are: strict.');
  expect(runs).toBe(0);
  expect(events.filter((event) => event.type === 'tool-call')).toHaveLength(4);
});

test('a call in a message that was cut off at the output limit is not run', async () => {
  let runs = 0;
  const counter = tool('counter', () => `${++runs}`);
  const model = scriptedModel([[call('counter'), end('length')], say('done')]);
  const { events, result } = await run({ model, tools: [counter] });
  expect(results(events)[0]).toMatch(/^counter failed: Not run: .*cut off at the output limit/);
  expect(runs).toBe(0);
  expect(result.stopReason).toBe('end_turn');
});

test('a ToolError goes to the model, a bug to the log', async () => {
  const bug = new TypeError('secret detail');
  const { events, bugs } = await run({
    model: modelThatCalls(call('wrong', {}, 'a'), call('buggy', {}, 'b'), call('silent', {}, 'c')),
    tools: [
      tool('wrong', () => {
        throw new ToolError('No such thing. Try another.');
      }),
      tool('buggy', () => {
        throw bug;
      }),
      tool('silent', () => undefined as unknown as string),
    ],
  });
  expect(results(events)).toEqual([
    'wrong failed: No such thing. Try another.',
    'buggy failed: buggy failed with an internal error. It was reported; try another way.',
    'silent failed: silent failed with an internal error. It was reported; try another way.',
  ]);
  expect(bugs).toEqual([bug, expect.any(TypeError)]);
});

test('a tool gets who asks, from where, and a signal', async () => {
  let seen: unknown;
  const curious = tool('curious', (_, { signal, ...context }) => {
    seen = { ...context, isAborted: signal.aborted };
    return '';
  });
  const { events } = await run({ model: modelThatCalls(call('curious')), tools: [curious] });
  expect(seen).toEqual({
    actor: { channel: 'cli', chatId: 'local', chatType: 'direct', userId: 'u1', role: 'owner' },
    sessionId: 'cli:local:d_1',
    runId: 'run_1',
    isAborted: false,
  });
  expect(results(events)).toEqual(['curious done: (no output)']);
});

test('a tool that takes too long is aborted and fails; the run goes on', async () => {
  vi.useFakeTimers();
  const slow = tool('slow', (_, { signal }) => untilAbort(signal), { timeoutMs: 5000 });
  const partial = tool(
    'partial',
    (_, { signal }) =>
      untilAbort(signal).catch(() => {
        throw new ToolError('half of the output');
      }),
    { timeoutMs: 5000 },
  );
  let at = 0;
  const ended = run({
    model: modelThatCalls(call('slow'), call('partial')),
    tools: [slow, partial],
    deps: { now: () => Date.now() - at },
  });
  at = Date.now();
  await vi.advanceTimersByTimeAsync(10_000);
  const { events, result, bugs } = await ended;
  expect(results(events)).toEqual([
    'slow failed: slow timed out after 5 s.',
    'partial failed: half of the output\n[partial timed out after 5 s.]',
  ]);
  expect(events.find((event) => event.type === 'tool-result')).toMatchObject({ durationMs: 5000 });
  expect(result.stopReason).toBe('end_turn');
  expect(bugs).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a tool that ignores its time limit is abandoned after a second', async () => {
  vi.useFakeTimers();
  const deaf = tool('deaf', neverEnds, { timeoutMs: 5000 });
  const ended = run({ model: modelThatCalls(call('deaf')), tools: [deaf] });
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  await vi.advanceTimersByTimeAsync(5900);
  expect(hasEnded).toBe(false);
  await vi.advanceTimersByTimeAsync(100);
  const { events, result } = await ended;
  expect(results(events)).toEqual([
    'deaf failed: deaf timed out after 5 s and did not stop; it may still take effect.',
  ]);
  expect(result.stopReason).toBe('end_turn');
});

test('what a tool finishes within the grace is its result', async () => {
  vi.useFakeTimers();
  const tidy = tool('tidy', (_, { signal }) => untilAbort(signal).catch(() => 'cleaned up'), { timeoutMs: 5000 });
  const ended = run({ model: modelThatCalls(call('tidy')), tools: [tidy] });
  await vi.advanceTimersByTimeAsync(5000);
  expect(results((await ended).events)).toEqual(['tidy done: cleaned up']);
});

test('a stop interrupts what runs, keeps what is done, and starts nothing more', async () => {
  const controller = new AbortController();
  const started: string[] = [];
  const track = (name: string, body: Parameters<typeof tool>[1], isReadOnly: boolean) =>
    tool(
      name,
      (input, context) => {
        started.push(name);
        return body(input, context);
      },
      { isReadOnly },
    );
  const { events, result } = await run({
    model: modelThatCalls(call('quick'), call('listens'), call('buggy'), call('write')),
    tools: [
      track('quick', () => 'quick result', true),
      track('listens', (_, { signal }) => untilAbort(signal), true),
      track(
        'buggy',
        async (_, { signal }) => untilAbort(signal).catch(() => Promise.reject(new Error('on abort'))),
        true,
      ),
      track('write', () => 'written', false),
    ],
    signal: controller.signal,
    onEvent: (event) => {
      if (event.type === 'tool-result') controller.abort();
    },
  });
  const stopped =
    'The run was stopped during this call; it may or may not have taken effect. Check before repeating it.';
  expect(results(events)).toEqual([
    'quick done: quick result',
    `listens interrupted: ${stopped}`,
    `buggy interrupted: ${stopped}`,
    'write interrupted: Not run: the run was stopped before this call.',
  ]);
  expect(started).toEqual(['quick', 'listens', 'buggy']);
  expect(events.flatMap((event) => (event.type === 'tool-call' ? [event.name] : []))).toEqual(started);
  expect(result.stopReason).toBe('cancelled');
});

test('a stop waits no longer than a second for tools that ignore it', async () => {
  vi.useFakeTimers();
  const controller = new AbortController();
  const ended = run({
    model: modelThatCalls(call('deaf')),
    tools: [tool('deaf', neverEnds)],
    signal: controller.signal,
  });
  await vi.advanceTimersByTimeAsync(10);
  controller.abort();
  await vi.advanceTimersByTimeAsync(1000);
  const { events, result } = await ended;
  expect(results(events)).toEqual([expect.stringMatching(/^deaf interrupted: /)]);
  expect(result.stopReason).toBe('cancelled');
  expect(vi.getTimerCount()).toBe(0);
});

test('a stop before the first tool starts none', async () => {
  const controller = new AbortController();
  let runs = 0;
  const { events, result } = await run({
    model: modelThatCalls(call('counter', {}, 'a'), call('counter', {}, 'b')),
    tools: [tool('counter', () => `${++runs}`)],
    signal: controller.signal,
    onEvent: (event) => {
      if (event.type === 'tool-call') controller.abort();
    },
  });
  expect(results(events)).toHaveLength(2);
  expect(results(events).every((text) => text.startsWith('counter interrupted: Not run'))).toBe(true);
  expect({ runs, stopReason: result.stopReason }).toEqual({ runs: 0, stopReason: 'cancelled' });
});

test('tools that still run are stopped when the consumer walks away', async () => {
  const aborted: string[] = [];
  const listens = tool(
    'listens',
    (_, { signal }) => {
      signal.addEventListener('abort', () => aborted.push('listens'));
      return untilAbort(signal);
    },
    { isReadOnly: true },
  );
  const full = new Error('The disk is full.');
  const failed = run({
    model: modelThatCalls(call('quick'), call('listens')),
    tools: [tool('quick', () => 'ok', { isReadOnly: true }), listens],
    onEvent: (event) => {
      if (event.type === 'tool-result') throw full;
    },
  });
  await expect(failed).rejects.toBe(full);
  expect(aborted).toEqual(['listens']);
});

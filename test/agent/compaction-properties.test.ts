import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CompactionInput, type CompactionResult, compact } from '../../src/agent/compaction/compact.js';
import { splitBlocks, typedText, type UserMessage } from '../../src/agent/compaction/marks.js';
import { shouldCompact } from '../../src/agent/compaction/should-compact.js';
import { type Checkpoint, type Entry, toEntries } from '../../src/agent/conversation.js';
import { builtInEstimator, estimateRequest } from '../../src/agent/tokens.js';
import type { EventBody } from '../../src/protocol/events.js';
import type { ModelMessage } from '../../src/providers/model.js';
import { afterwards, complaintsOf, inputOf, withResults, words } from './compaction-dialogs.js';
import { stored, userMessage } from './scripted-run.js';

const never = new AbortController().signal;

const textSizes = fc.constantFrom(1, 5, 40, 120);
const outputSizes = fc.constantFrom(1, 30, 100, 400, 700);
const seed = fc.nat(50);
const characters = fc.constantFrom(
  '',
  '😀',
  '订单已经发出,明天送到。',
  '\n\n- item\n',
  '<context>\nx\n</context>',
  '</turn>',
);

const prose = fc
  .tuple(textSizes, seed, characters)
  .map(([size, start, extra]) => `${extra}${words(size, start)}${extra.repeat(1 + (size % 40))}`);

interface Call {
  tool: string;
  path: string;
  output: string;
  state: 'done' | 'failed' | 'interrupted';
}

const call: fc.Arbitrary<Call> = fc.record({
  tool: fc.constantFrom('file_read', 'lookup', 'file_write'),
  path: fc.constantFrom('a.txt', './a.txt', 'b.txt'),
  output: fc
    .tuple(outputSizes, seed, characters)
    .map(([size, start, extra]) => words(size, start) + extra.repeat(size / 10)),
  state: fc.constantFrom('done', 'done', 'done', 'failed', 'interrupted'),
});

const step = fc.record({
  text: fc.oneof(fc.constant(''), prose),
  calls: fc.array(call, { minLength: 1, maxLength: 3 }),
});
const turn = fc.record({
  asked: fc.array(prose, { minLength: 1, maxLength: 2 }),
  steps: fc.array(step, { maxLength: 5 }),
  answer: fc.option(prose),
});
const dialog = fc.array(turn, { minLength: 1, maxLength: 10 });
type Dialog = typeof dialog extends fc.Arbitrary<infer T> ? T : never;

/** The events of a dialog; the ids of calls are unique, as the loop makes them. */
function eventsOf(turns: Dialog): EventBody[] {
  let number = 0;
  return turns.flatMap(({ asked, steps, answer }): EventBody[] => [
    ...asked.map((text) => userMessage(text.replaceAll('<context>', '&lt;context>'))),
    ...steps.flatMap(({ text, calls }): EventBody[] => {
      const numbered = calls.map((each) => {
        number += 1;
        return { ...each, callId: `call_${number}` };
      });
      return [
        {
          type: 'assistant-message',
          step: 1,
          text,
          toolCalls: numbered.map(({ callId, tool, path }) => ({ callId, name: tool, input: { path } })),
          deltas: [],
        },
        ...numbered.map(
          ({ callId, tool, output, state }): EventBody => ({
            type: 'tool-result',
            step: 1,
            callId,
            name: tool,
            state,
            output,
            durationMs: 1,
          }),
        ),
      ];
    }),
    ...(answer === null
      ? []
      : [{ type: 'assistant-message', step: 2, text: answer, toolCalls: [], deltas: [] } satisfies EventBody]),
  ]);
}

const summarisers: Record<string, CompactionInput['summarise']> = {
  good: async ({ text }) =>
    Array.from(
      text.matchAll(/<turn number="(\d+)"/g),
      ([, number]) => `<summary turn="${number}">Done.</summary>`,
    ).join(),
  formless: async () => 'All was done.',
  failing: async () => {
    throw new Error('no model');
  },
  hanging: () => new Promise(() => {}),
  empty: async () => ' ',
  'long-winded': async () => words(3000),
  junk: async () => '<summary turn="9">\0\ud83d</context><context>\n<summary turn="1"></summary><turn>',
};

const settings = fc.record({
  contextWindow: fc.constantFrom<number>(1000, 2000, 4000, 10_000),
  reason: fc.constantFrom('size', 'overflow', 'request'),
  keepRecentTurns: fc.integer({ min: 1, max: 4 }),
  summariser: fc.constantFrom(...Object.keys(summarisers)),
  hasReader: fc.boolean(),
});

type Setting = typeof settings extends fc.Arbitrary<infer T> ? T : never;

async function run(entries: readonly Entry[], { summariser, hasReader, ...more }: Setting) {
  let count = 0;
  const { tools } = inputOf([]);
  const outcome = await compact(
    inputOf([], {
      entries,
      ...more,
      tools: hasReader ? tools : [],
      summariseTimeoutMs: 1,
      summarise: (prompt, signal) => {
        count += 1;
        return summarisers[summariser]!(prompt, signal);
      },
    }),
    never,
  );
  expect(count).toBeLessThanOrEqual(3);
  return outcome;
}

/** Everything that must hold between a conversation and its compacted form. */
function check(entries: readonly Entry[], result: CompactionResult): ModelMessage[] {
  const before = entries.map((entry) => entry.message);
  const after = afterwards(entries, result);
  expect(complaintsOf(withResults(after))).toEqual([]);
  expect(result.tokensAfter).toBeLessThan(result.tokensBefore);
  expect(result.summary).not.toBe('');
  expect(result.summary.length).toBeLessThanOrEqual(8000);

  // The newest request survives word for word, and so does each other one unless the trim was hard.
  const own = (messages: readonly ModelMessage[]) =>
    messages
      .filter((message): message is UserMessage => message.role === 'user')
      .map((message) => splitBlocks(message).own);
  expect(own(after).at(-1)).toEqual(own(before).at(-1));
  if (result.method !== 'hard-trim') expect(own(after)).toEqual(own(before));

  // Calls that lack a result stay where they were; a result of a tool is never lost while its call is there.
  const last = before.findLastIndex((message) => message.role === 'assistant');
  const pending = before.slice(last);
  if (withResults(before).length > before.length) expect(after.slice(-pending.length)).toEqual(pending);
  const ends = before.at(-1)?.role;
  expect(after.at(-1)?.role === 'assistant').toBe(ends === 'assistant');
  return after;
}

test('whatever the dialog and however the model fails, the next request is accepted', async () => {
  let compacted = 0;
  const methods = new Set<string>();
  await fc.assert(
    fc.asyncProperty(dialog, settings, fc.nat(200), async (turns, setting, cut) => {
      const bodies = eventsOf(turns);
      const events = stored(bodies.slice(0, Math.max(1, bodies.length - (cut % 5))));
      const entries = toEntries(events);
      const outcome = await run(entries, setting);
      if (outcome.kind !== 'compacted') return;
      compacted += 1;
      methods.add(outcome.method);
      const after = check(entries, outcome);

      // Rebuilt from storage it is the same, message for message.
      const checkpoint: Checkpoint = JSON.parse(JSON.stringify({ to: outcome.to, messages: outcome.messages }));
      const restored = toEntries(events, checkpoint);
      expect(restored.map((entry) => entry.message)).toEqual(after);

      // Compacted again, and once more.
      let current = restored;
      let tokens = outcome.tokensAfter;
      for (const reason of ['request', 'overflow'] as const) {
        const again = await run(current, { ...setting, reason });
        if (again.kind !== 'compacted') continue;
        expect(again.tokensAfter).toBeLessThan(tokens);
        tokens = again.tokensAfter;
        check(current, again);
        current = toEntries(events, again);
      }
    }),
    { numRuns: 1000 },
  );
  expect(compacted).toBeGreaterThan(300);
  expect([...methods].sort()).toEqual(['deterministic', 'hard-trim', 'summary', 'trim']);
}, 120_000);

test('the calls and results of a short dialog hold together at every cut, b still running included', async () => {
  const long = words(700);
  const result = (callId: string): EventBody => ({
    type: 'tool-result',
    step: 1,
    callId,
    name: 'lookup',
    state: 'done',
    output: `${callId} ${long}`,
    durationMs: 1,
  });
  const toolCalls = ['a', 'b'].map((callId) => ({ callId, name: 'lookup', input: { of: callId } }));
  const bodies: EventBody[] = [
    userMessage('First request.'),
    { type: 'assistant-message', step: 1, text: '', toolCalls, deltas: [] },
    result('a'),
    result('b'),
    { type: 'assistant-message', step: 2, text: `Both are there. ${long}`, toolCalls: [], deltas: [] },
    userMessage('Latest request.'),
  ];
  let compacted = 0;
  for (let length = 1; length <= bodies.length; length += 1) {
    const events = stored(bodies.slice(0, length));
    // What runs has no result yet: the entries of the loop, not the mended ones of a restart.
    const isRunning = length === 2 || length === 3;
    const entries = toEntries(events).filter(
      ({ message, eventId }) => !isRunning || message.role !== 'tool' || eventId > 2,
    );
    for (const contextWindow of [600, 1200, 2400]) {
      for (const keepRecentTurns of [1, 2]) {
        for (const reason of ['size', 'overflow', 'request'] as const) {
          for (const summariser of ['good', 'failing']) {
            const setting = { contextWindow, keepRecentTurns, reason, summariser, hasReader: true };
            const outcome = await run(entries, setting);
            if (outcome.kind !== 'compacted') continue;
            compacted += 1;
            check(entries, outcome);
            const next = toEntries(events, outcome).filter(({ message }) => !isRunning || message.role !== 'tool');
            const again = await run(next, { ...setting, reason: 'overflow' });
            if (again.kind === 'compacted') check(next, again);
          }
        }
      }
    }
  }
  expect(compacted).toBeGreaterThan(10);
});

test('a dialog of 200 turns full of tools goes on through one compaction after the other', async () => {
  const turns = fc.sample(turn, { numRuns: 200, seed: 7 });
  const bodies = eventsOf(turns);
  const all = stored(bodies);
  const limits = { contextWindow: 32_000, compactAt: 0.7, hardTrimAt: 0.9 };
  const { system, tools } = inputOf([]);
  let checkpoint: Checkpoint = { to: 0, messages: [] };
  let count = 0;
  let total = 0;
  for (let length = 1; length <= bodies.length; length += 1) {
    // The loop asks when each call has its result.
    if (bodies[length]?.type === 'tool-result') continue;
    const entries = toEntries(all.slice(checkpoint.to, length), checkpoint);
    const messages = entries.map((entry) => entry.message);
    const size = estimateRequest(builtInEstimator, { system, tools: [...tools], messages });
    total = Math.max(total, size);
    if (!shouldCompact(size, limits)) continue;
    const setting = {
      contextWindow: limits.contextWindow,
      reason: 'size',
      keepRecentTurns: 3,
      hasReader: true,
    } as const;
    const outcome = await run(entries, { ...setting, summariser: count % 3 === 0 ? 'failing' : 'good' });
    expect(outcome.kind === 'too-large').toBe(false);
    if (outcome.kind !== 'compacted') continue;
    count += 1;
    check(entries, outcome);
    checkpoint = outcome;
  }
  expect(total).toBeLessThan(32_000);
  // Each one lasts for some turns.
  expect(count).toBeGreaterThan(5);
  expect(count).toBeLessThan(60);
});

test('a stop at any moment ends it with the reason', async () => {
  await fc.assert(
    fc.asyncProperty(dialog, fc.integer({ min: 1, max: 3 }), async (turns, at) => {
      const controller = new AbortController();
      let count = 0;
      const summarise = async (): Promise<string> => {
        count += 1;
        if (count < at) return 'Done.';
        controller.abort(new Error('stopped'));
        return new Promise(() => {});
      };
      const input = inputOf([], { entries: toEntries(stored(eventsOf(turns))), contextWindow: 3000, summarise });
      const outcome = await compact(input, controller.signal).catch((error: unknown) => error);
      if (controller.signal.aborted) expect(outcome).toEqual(new Error('stopped'));
      else expect(outcome).not.toBeInstanceOf(Error);
    }),
    { numRuns: 200 },
  );
});

test('what a person typed is told apart from what the program added', () => {
  const message = (text: string): UserMessage => ({ role: 'user', content: [{ type: 'text', text }] });
  const sent = '[speaker id="u1" name="Ann"]\nWhere is it?\n\n<context>\nTime: 2026-03-14\n</context>';
  expect(typedText(message(sent))).toBe('Where is it?');
  expect(splitBlocks(message(sent))).toEqual({ own: message(sent), blocks: {} });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SessionId } from '../../src/protocol/ids.js';
import { framesOf, type Ground, startGround, textOf, until } from './ground.js';

const dialog = 'cli_chat:terminal:default' as SessionId;

type Action =
  | { kind: 'text'; text: string }
  | { kind: 'step' }
  | { kind: 'tool' }
  | { kind: 'notice' }
  | { kind: 'cut' }
  | { kind: 'cutAfter'; direction: 'up' | 'down'; bytes: number }
  | { kind: 'settle' };

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
      .map((text) => ({ kind: 'text' as const, text })),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'step' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'tool' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'notice' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'cut' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('cutAfter' as const),
      direction: fc.constantFrom('up' as const, 'down' as const),
      bytes: fc.integer({ min: 1, max: 900 }),
    }),
  },
  { weight: 4, arbitrary: fc.constant({ kind: 'settle' as const }) },
);

const scenario = fc.record({
  /** Messages that each run answers. */
  runs: fc.array(
    fc.record({ messages: fc.integer({ min: 1, max: 3 }), actions: fc.array(action, { maxLength: 20 }) }),
    { minLength: 1, maxLength: 3 },
  ),
  /** Cuts while the messages are on their way. */
  firstCut: fc.option(fc.integer({ min: 1, max: 600 })),
  isWatched: fc.boolean(),
  pieceSize: fc.integer({ min: 1, max: 2000 }),
});

/** Lets the bytes that are on their way arrive, mostly. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 2));

async function play(
  { server, proxy, client: open }: Ground,
  { runs, firstCut, isWatched, pieceSize }: typeof scenario extends fc.Arbitrary<infer T> ? T : never,
) {
  server.daemon.answer = undefined;
  proxy.pieceSize = pieceSize;
  const client = open();
  if (isWatched) void framesOfWatch(client.subscribe('default'));
  const first = server.daemon.received.length;
  if (firstCut !== null) proxy.cutAfter('up', firstCut);
  const count = runs.reduce((sum, run) => sum + run.messages, 0);
  const turns = Array.from({ length: count }, (_, index) =>
    client.send(`message ${index}`, { messageId: `${first}-${index}` }),
  );
  const answers = turns.map((turn) => framesOf(turn));
  await until(() => server.daemon.received.length === first + count, 'every message arrived');

  const order = server.daemon.received.slice(first).map((message) => message.messageId);
  let next = 0;
  for (const { messages, actions } of runs) {
    const run = server.daemon.begin(dialog, messages);
    let text = '';
    let tools = 0;
    for (const each of actions) {
      if (each.kind === 'text') {
        run.text(each.text);
        text += each.text;
      } else if (each.kind === 'step') run.step();
      else if (each.kind === 'notice') run.emit({ type: 'notice', text: 'a word' });
      else if (each.kind === 'tool') {
        tools += 1;
        const call = { callId: `c${tools}`, name: 'clock', input: {} };
        run.step([call]);
        run.emit({ type: 'tool-call', step: 1, ...call });
        run.emit({
          type: 'tool-result',
          step: 1,
          callId: call.callId,
          name: 'clock',
          state: 'done',
          output: 'noon',
          durationMs: 1,
        });
      } else if (each.kind === 'cut') proxy.cut();
      else if (each.kind === 'cutAfter') proxy.cutAfter(each.direction, each.bytes);
      else await settle();
    }
    run.end();
    const answered = order.slice(next, next + messages);
    next += messages;
    for (const messageId of answered) {
      const frames = await answers[turns.findIndex((turn) => turn.messageId === messageId)]!;
      expect(textOf(frames)).toBe(text);
      expect(frames.at(0)?.type).toBe('start');
      expect(frames.filter((frame) => frame.type === 'start')).toHaveLength(1);
      expect(frames.filter((frame) => frame.type === 'end')).toEqual([frames.at(-1)]);
      expect(frames.filter((frame) => frame.type === 'tool_calls')).toHaveLength(2 * tools);
      const ids = frames.map((frame) => ('eventId' in frame ? frame.eventId : 0));
      expect(ids).toEqual([...new Set(ids)].sort((one, other) => one! - other!));
    }
  }
  expect(server.daemon.received).toHaveLength(first + count);
  client.close();
}

async function framesOfWatch(watch: AsyncIterable<unknown>): Promise<void> {
  try {
    for await (const _ of watch);
  } catch {
    // Closed at the end of the scenario.
  }
}

describe('a connection that is cut anywhere, again and again', () => {
  test('loses no text, doubles none, and runs no message twice', { timeout: 120_000 }, async () => {
    const ground = await startGround();
    await fc.assert(
      fc.asyncProperty(scenario, (cuts) => play(ground, cuts)),
      { numRuns: 100 },
    );
  });
});

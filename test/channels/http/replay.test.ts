import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SessionId } from '../../../src/protocol/ids.js';
import type { FakeRun } from '../../fakes/fake-control.js';
import { startServer, type TestServer } from '../../gateway/server.js';
import { openStream, type StreamedEvent, textOf } from './stream-client.js';

const defaultId = 'http:default:default' as SessionId;
let server: TestServer;
let messageCount = 0;
beforeAll(async () => {
  server = await startServer({ answer: undefined });
});
afterAll(() => server.close());

/** One thing that the run does. */
type Action = { kind: 'text'; text: string } | { kind: 'step' } | { kind: 'reasoning' } | { kind: 'tool' };

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('text' as const), text: fc.string({ minLength: 1, unit: 'grapheme' }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'step' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'reasoning' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'tool' as const }) },
);

function perform(run: FakeRun, { kind, ...rest }: Action): void {
  if (kind === 'text') run.text((rest as { text: string }).text);
  else if (kind === 'step') run.step();
  else if (kind === 'reasoning') run.emit({ type: 'reasoning-delta', step: 1, text: 'hm' });
  else {
    run.step([{ callId: 'c', name: 'clock', input: {} }]);
    run.emit({ type: 'tool-call', step: 1, callId: 'c', name: 'clock', input: {} });
  }
}

describe('a reader that reconnects with the last id it saw', () => {
  test('has the whole answer once, wherever the connection broke and whatever happened meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ actions: fc.array(action, { maxLength: 6 }), readsFirst: fc.nat({ max: 8 }) }), {
          minLength: 1,
          maxLength: 6,
        }),
        async (rounds) => {
          messageCount += 1;
          const body = { sessionId: 'default', messageId: `m${messageCount}`, text: 'tell me' };
          const seen: StreamedEvent[] = [];
          let run: FakeRun | undefined;
          let said = '';
          for (const { actions, readsFirst } of rounds) {
            const stream = await openStream(server, body, { lastEventId: seen.at(-1)?.id });
            run ??= server.daemon.begin(defaultId);
            for (const each of actions) {
              perform(run, each);
              if (each.kind === 'text') said += each.text;
            }
            // Stops reading after some of what is there: the rest is lost with the connection.
            const lastId = server.daemon.control.events(defaultId, 0, 100_000).at(-1)!.id;
            const newest = (events: StreamedEvent[]) => (events.at(-1) ?? seen.at(-1))?.id ?? 0;
            await stream.until((events) => events.length >= readsFirst || newest(events) >= lastId);
            seen.push(...stream.events.slice(0, readsFirst));
            stream.drop();
          }
          run!.end();
          const last = await openStream(server, body, { lastEventId: seen.at(-1)?.id });
          await last.ended;
          seen.push(...last.events);
          expect(textOf(seen)).toBe(said);
          const ids = seen.map(({ id }) => id ?? 0);
          expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
          expect(seen.at(-1)?.name).toBe('run-end');
          expect(server.daemon.received).toHaveLength(messageCount);
        },
      ),
      { numRuns: 60, seed: 7 },
    );
  });

  test('hears live events that come while older ones are still replayed', async () => {
    messageCount += 1;
    const body = { sessionId: 'default', messageId: `m${messageCount}`, text: 'tell me' };
    const first = await openStream(server, body);
    const run = server.daemon.begin(defaultId);
    let said = '';
    const say = (text: string) => {
      said += text;
      run.text(text);
    };
    // More than one page of the store, each delta a step of its own.
    for (let count = 0; count < 1200; count += 1) {
      say(`${count} `);
      run.step();
    }
    first.drop();
    const opening = openStream(server, body);
    const talk = setInterval(() => say('live '), 0);
    const stream = await opening;
    await stream.until((events) => textOf(events).includes('1199 live live'));
    clearInterval(talk);
    run.end();
    await stream.ended;
    expect(textOf(stream.events)).toBe(said);
  });

  test('after the last event it gets an empty stream that ends', async () => {
    messageCount += 1;
    const body = { sessionId: 'default', messageId: `m${messageCount}`, text: 'tell me' };
    const stream = await openStream(server, body);
    const run = server.daemon.begin(defaultId);
    run.end();
    await stream.ended;
    const again = await openStream(server, body, { lastEventId: stream.events.at(-1)?.id });
    await again.ended;
    expect(again.events).toEqual([]);
  });

  test('an id from elsewhere does not hide the answer to a new message', async () => {
    messageCount += 1;
    const body = { sessionId: 'default', messageId: `m${messageCount}`, text: 'tell me' };
    const stream = await openStream(server, body, { lastEventId: 999_999_999 });
    const run = server.daemon.begin(defaultId);
    run.text('all of it');
    run.end();
    await stream.ended;
    expect(textOf(stream.events)).toBe('all of it');
  });
});

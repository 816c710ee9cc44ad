import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { streamChat } from '../../src/client/chat-stream.js';
import { readServerSentEvents } from '../../src/client/event-stream.js';
import { UserError } from '../../src/protocol/errors.js';
import type { AgentEvent } from '../../src/protocol/events.js';
import { token } from '../gateway/server.js';
import { type FakeServer, sendJson, startFakeServer } from './fake-server.js';
import { hastyClock, manualClock, startGround, until } from './ground.js';

function stream(url: string, more: Partial<Parameters<typeof streamChat>[0]> = {}) {
  return streamChat({
    url,
    token,
    sessionId: 'http:default:default',
    messageId: 'm',
    text: 'hello',
    signal: new AbortController().signal,
    clock: hastyClock(),
    ...more,
  });
}

async function eventsOf(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const all: AgentEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const textOf = (events: AgentEvent[]) =>
  events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error: unknown) => (error instanceof UserError ? error.code : String(error)),
  );

function event(id: number, body: object): string {
  return `event: x\nid: ${id}\ndata: ${JSON.stringify({ id, runId: 'r', sessionId: 's', turn: 1, at: 0, ...body })}\n\n`;
}

function begin(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
}

/** Answers the requests one after the other. */
async function answering(
  ...answers: ((response: ServerResponse, lastEventId: string | undefined) => void)[]
): Promise<FakeServer> {
  const fake = await startFakeServer();
  let count = 0;
  fake.onRequest = (request, response) => {
    const answer = answers[Math.min(count, answers.length - 1)]!;
    count += 1;
    answer(response, request.headers['last-event-id'] as string | undefined);
  };
  return fake;
}

describe('a stream that breaks', () => {
  test('anywhere goes on where it stood, and the message runs once', { timeout: 60_000 }, async () => {
    const { server, proxy } = await startGround();
    let count = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 1500 }), { maxLength: 4 }),
        fc.integer({ min: 1, max: 50 }),
        async (cuts, pieceSize) => {
          count += 1;
          proxy.pieceSize = pieceSize;
          const runs = server.daemon.runCount;
          const left = [...cuts];
          const next = () => proxy.cutAfter('down', left.shift() ?? Number.POSITIVE_INFINITY);
          next();
          const said = '天地玄黄 '.repeat(20);
          const events = await eventsOf(stream(proxy.url, { messageId: `m${count}`, text: said, onBreak: next }));
          expect(textOf(events)).toBe(`echo: ${said}`);
          expect(events.at(-1)?.type).toBe('run-end');
          expect(server.daemon.runCount).toBe(runs + 1);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('by a restart goes on after it; an end that only says "later" is none', async () => {
    const asked: (string | undefined)[] = [];
    const fake = await answering(
      (response) => {
        begin(response).write(
          event(1, { type: 'run-start', attempt: 1 }) + event(2, { type: 'text-delta', text: 'a' }),
        );
        response.end(
          `event: run-end\ndata: ${JSON.stringify({ type: 'run-end', id: 3, error: { code: 'shutting_down' } })}\n\n`,
        );
      },
      (response) => sendJson(response, 503, { error: { code: 'shutting_down', message: 'Later.' } }),
      (response, lastEventId) => {
        asked.push(lastEventId);
        begin(response).end(`event: error\ndata: {"error":{"code":"shutting_down","message":"Later."}}\n\n`);
      },
      (response, lastEventId) => {
        asked.push(lastEventId);
        begin(response).end(
          event(1_000_003, { type: 'run-start', attempt: 2 }) + event(1_000_004, { type: 'run-end', text: 'b' }),
        );
      },
    );
    const events = await eventsOf(stream(fake.url));
    expect(events.map(({ id, type }) => [id, type])).toEqual([
      [1, 'run-start'],
      [2, 'text-delta'],
      [1_000_003, 'run-start'],
      [1_000_004, 'run-end'],
    ]);
    expect(asked).toEqual(['2', '2']);
  });

  test('and does not come back ends with a word about where the answer is', async () => {
    let responses = 0;
    const fake = await answering((response) => {
      responses += 1;
      begin(response).write(event(1, { type: 'run-start', attempt: 1 }), () => response.destroy());
    });
    const pauses: number[] = [];
    const events = stream(fake.url, { onBreak: (ms) => pauses.push(ms), random: () => 0, clock: hastyClock(40_000) });
    expect(await codeOf(eventsOf(events))).toBe('connection_lost');
    expect(responses).toBe(11);
    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 30_000]);
  });

  test('by silence is left and taken up again', async () => {
    const clock = manualClock();
    const fake = await answering(
      (response) => begin(response).write(event(1, { type: 'run-start', attempt: 1 })),
      (response) => begin(response).end(event(2, { type: 'run-end', text: 'b' })),
    );
    const seen: string[] = [];
    const events = (async () => {
      for await (const each of stream(fake.url, { clock })) seen.push(each.type);
    })();
    await until(() => seen.length === 1);
    clock.pass(45_000);
    await until(() => clock.waiting.some((ms) => ms <= 500));
    clock.pass(500);
    await events;
    expect(seen).toEqual(['run-start', 'run-end']);
  });

  test('is left at once when its reader wants no more', async () => {
    const fake = await answering((response) => begin(response).write(event(1, { type: 'run-start', attempt: 1 })));
    const abort = new AbortController();
    const events = codeOf(eventsOf(stream(fake.url, { signal: abort.signal })));
    await until(() => fake.requests.length === 1);
    abort.abort(new Error('enough'));
    expect(await events).toBe('Error: enough');
  });
});

describe('what is no stream', () => {
  test('is refused with what the server says, without another attempt', async () => {
    const cases: [(response: ServerResponse) => void, string][] = [
      [
        (response) => sendJson(response, 409, { error: { code: 'session_read_only', message: 'No.' } }),
        'session_read_only',
      ],
      [(response) => sendJson(response, 503, { error: { code: 'shutting_down', message: 'No.' } }), 'shutting_down'],
      [(response) => sendJson(response, 401, { error: { code: 'unauthorized', message: 'No.' } }), 'unauthorized'],
      [(response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'), 'bad_answer'],
      [(response) => response.writeHead(502).end('<html>'), 'bad_answer'],
      [(response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(), 'unreachable'],
      [
        (response) => begin(response).end('event: error\ndata: {"error":{"code":"internal_error","message":"x"}}\n\n'),
        'internal_error',
      ],
    ];
    for (const [answer, code] of cases) {
      const fake = await answering(answer);
      expect(await codeOf(eventsOf(stream(fake.url)))).toBe(code);
      expect(fake.requests).toHaveLength(1);
    }
  });
});

test('server-sent events are read whatever pieces they come in', async () => {
  const text =
    ': ping\r\n\r\nevent: a\r\nid: 1\r\ndata: {"x":"天😀"}\r\n\r\ndata:two\ndata: lines\n\nevent: lost\ndata: no blank line';
  const bytes = new TextEncoder().encode(text);
  for (let size = 1; size < 20; size += 1) {
    const pieces = (async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    })();
    const events = [];
    for await (const each of readServerSentEvents(pieces)) events.push(each);
    expect(events).toEqual([
      { type: 'a', data: '{"x":"天😀"}' },
      { type: 'message', data: 'two\nlines' },
    ]);
  }
});

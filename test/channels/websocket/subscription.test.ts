import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SessionId } from '../../../src/protocol/ids.js';
import type { FakeRun } from '../../fakes/fake-control.js';
import { call, startServer, type TestServer } from '../../gateway/server.js';
import { type Client, connect as connectTo, type Frame, text, textOf, typesOf } from './ws-client.js';

const webId = 'websocket:web:default' as SessionId;
let server: TestServer;
let clients: Client[];
beforeEach(async () => {
  server = await startServer({ answer: undefined });
  clients = [];
});
afterEach(async () => {
  for (const client of clients) client.close();
  await server.close();
});

const connect = async (query?: string): Promise<Client> => {
  const client = await connectTo(server, query);
  clients.push(client);
  return client;
};
const subscribed = async (sessionId = 'default', lastEventId?: number): Promise<Client> => {
  const client = await connect();
  client.send({ type: 'subscribe', sessionId, lastEventId });
  await client.wait((frame) => frame.type === 'sync');
  return client;
};
/** Lets a message in, and begins its run. */
const ask = async (client: Client, messageId: string): Promise<FakeRun> => {
  client.send(text(messageId));
  await client.sync();
  return server.daemon.begin(webId);
};
const ofRun = (client: Client, runId: string): Frame[] => client.frames.filter((frame) => frame.runId === runId);

describe('following a dialog', () => {
  test('begins with the newest messages', async () => {
    const asker = await connect();
    const run = await ask(asker, 'm1');
    run.text('answer');
    run.end();
    const client = await subscribed();
    expect(typesOf(client.frames)).toEqual(['sync']);
    const { content } = client.frames[0];
    expect(content.messages.map((message: Frame) => [message.role, message.text])).toEqual([
      ['user', 'say m1'],
      ['assistant', 'answer'],
    ]);
    expect(content.lastEventId).toBe(server.daemon.control.events(webId, 0).at(-1)?.id);
  });

  test('a dialog that its first message will create can be followed before', async () => {
    const client = await subscribed();
    expect(client.frames[0].content).toEqual({ messages: [], lastEventId: 0 });
    const run = await ask(await connect(), 'm1');
    run.text('answer');
    run.end();
    await client.end('m1');
    expect(textOf(client.frames)).toBe('answer');
  });

  test('shows turns that others start, with each stored message', async () => {
    const client = await subscribed();
    const other = await connect();
    const run = await ask(other, 'm1');
    run.text('ans', 'wer');
    run.end();
    await client.end('m1');
    await client.sync();
    expect(typesOf(ofRun(client, run.runId))).toEqual(['start', 'text', 'text', 'end']);
    const added = client.frames.filter((frame) => frame.type === 'history/add').flatMap((frame) => frame.content);
    expect(added.map(({ role, text }: Frame) => [role, text])).toEqual([
      ['user', 'say m1'],
      ['assistant', 'answer'],
    ]);
    expect(added.map(({ id }: Frame) => id)).toEqual([...new Set(added.map(({ id }: Frame) => id))]);
  });

  test('shows turns that other channels start, also in dialogs of platforms', async () => {
    const { id } = server.daemon.createSession('telegram', '42', 'd1');
    const client = await subscribed(id);
    await server.daemon.receive({
      channel: 'telegram',
      chatId: '42',
      messageId: 't1',
      sender: { id: '7', role: 'member' },
      chatType: 'direct',
      mentioned: true,
      text: 'from the phone',
      attachments: [],
      sentAt: 1,
      dialogId: 'd1',
    });
    const run = server.daemon.begin(id);
    run.text('to the phone');
    run.end();
    expect(await client.end('t1')).toMatchObject({ sessionId: id });
    expect(textOf(client.frames)).toBe('to the phone');
  });

  test('a turn of its own comes once', async () => {
    const client = await subscribed();
    const run = await ask(client, 'm1');
    run.text('once');
    run.end();
    await client.end('m1');
    await client.sync();
    expect(typesOf(ofRun(client, run.runId))).toEqual(['start', 'text', 'end']);
    expect(client.frames.filter((frame) => frame.type === 'history/add')).toHaveLength(2);
  });

  test('a turn of its own that has begun before comes once', async () => {
    const client = await connect();
    const run = await ask(client, 'm1');
    run.text('once ');
    client.send({ type: 'subscribe', sessionId: 'default' });
    await client.wait((frame) => frame.type === 'sync');
    run.text('only');
    run.end();
    await client.end('m1');
    await client.sync();
    expect(textOf(client.frames)).toBe('once only');
    expect(client.frames.filter((frame) => frame.type === 'end')).toHaveLength(1);
  });

  test('tells what waits in the queue as it changes', async () => {
    const client = await subscribed();
    const first = await ask(client, 'm1');
    client.send(text('m2'));
    await client.wait((frame) => frame.type === 'context' && frame.content[0]?.messageId === 'm2');
    first.end();
    server.daemon.begin(webId).end();
    await client.end('m2');
    const contexts = client.frames.filter((frame) => frame.type === 'context');
    expect(contexts.map((frame) => frame.content.map((message: Frame) => message.messageId))).toEqual([
      ['m1'],
      [],
      ['m2'],
      [],
    ]);
  });

  test('a client that comes in the middle of a turn has its whole answer', async () => {
    const run = await ask(await connect(), 'm1');
    run.text('first ');
    run.step([{ callId: 'c1', name: 'clock', input: { zone: 'UTC' } }]);
    run.emit({ type: 'tool-call', step: 1, callId: 'c1', name: 'clock', input: { zone: 'UTC' } });
    const client = await subscribed();
    run.emit({
      type: 'tool-result',
      step: 1,
      callId: 'c1',
      name: 'clock',
      state: 'done',
      output: '12:00',
      durationMs: 1,
    });
    run.text('second');
    run.end();
    await client.end('m1');
    await client.sync();
    const { messages } = client.frames[0].content;
    // What is stored comes with the sync, the rest as frames, nothing twice.
    expect(messages.map((message: Frame) => message.text)).toEqual(['say m1', 'first ']);
    expect(textOf(client.frames)).toBe('second');
    const calls = client.frames.filter((frame) => frame.type === 'tool_calls').map((frame) => frame.content[0]);
    expect(calls.at(-1)).toEqual({ id: 'c1', name: 'clock', input: { zone: 'UTC' }, state: 'done', result: '12:00' });
  });

  test('a client that comes in the middle of a step has its beginning', async () => {
    const run = await ask(await connect(), 'm1');
    run.text('first ');
    const client = await subscribed();
    run.text('second');
    run.end();
    await client.end('m1');
    expect(textOf(client.frames)).toBe('first second');
  });

  test('ends with unsubscribe and begins anew with a second subscribe', async () => {
    const client = await subscribed();
    client.send({ type: 'unsubscribe', sessionId: 'default' });
    const first = await ask(await connect(), 'm1');
    await client.sync();
    first.end();
    await client.sync();
    expect(ofRun(client, first.runId)).toEqual([]);
    client.send({ type: 'subscribe', sessionId: 'default' }, { type: 'subscribe', sessionId: webId });
    await client.sync();
    const second = await ask(await connect(), 'm2');
    second.text('once');
    second.end();
    await client.end('m2');
    await client.sync();
    expect(typesOf(ofRun(client, second.runId))).toEqual(['start', 'text', 'end']);
    expect(ofRun(client, second.runId)[0].sessionId).toBe(webId);
  });

  test('has a limit of dialogs, and refuses unknown ones', async () => {
    const client = await connect();
    client.send({ type: 'subscribe', sessionId: 'nowhere' });
    await client.wait((frame) => frame.type === 'error' && frame.content.code === 'session_not_found');
    for (let count = 0; count < 257; count += 1) {
      server.daemon.createSession('websocket', 'web', `d${count}`);
      client.send({ type: 'subscribe', sessionId: `d${count}` });
    }
    expect(await client.wait((frame) => frame.content?.code === 'too_many_subscriptions')).toMatchObject({
      sessionId: 'd256',
    });
  });
});

describe('coming back', () => {
  test('brings what was missed as ordinary frames, then a sync, then what happens', async () => {
    const asker = await connect();
    const client = await subscribed();
    const run = await ask(asker, 'm1');
    run.text('one ');
    const { eventId } = await client.wait((frame) => frame.type === 'text');
    client.close();
    run.text('two ');
    run.step([{ callId: 'c1', name: 'clock', input: {} }]);
    run.emit({ type: 'tool-call', step: 1, callId: 'c1', name: 'clock', input: {} });
    const back = await subscribed('default', eventId);
    expect(typesOf(back.frames)).toEqual(['text', 'tool_calls', 'sync']);
    expect(back.frames[0]).toMatchObject({ messageId: 'm1', runId: run.runId, content: 'two ' });
    run.text('three');
    run.end();
    await back.end('m1');
    expect(textOf(back.frames)).toBe('two three');
  });

  test('after the run has ended, its rest still names the message and the tool input', async () => {
    const asker = await connect();
    const run = await ask(asker, 'm1');
    run.step([{ callId: 'c1', name: 'clock', input: { zone: 'UTC' } }]);
    const seen = run.emit({ type: 'tool-call', step: 1, callId: 'c1', name: 'clock', input: { zone: 'UTC' } });
    run.emit({
      type: 'tool-result',
      step: 1,
      callId: 'c1',
      name: 'clock',
      state: 'done',
      output: '12:00',
      durationMs: 1,
    });
    run.text('noon');
    run.end();
    const back = await subscribed('default', seen.id);
    expect(typesOf(back.frames)).toEqual(['tool_calls', 'text', 'end', 'sync']);
    expect(back.frames[0]).toMatchObject({ messageId: 'm1', content: [{ input: { zone: 'UTC' }, result: '12:00' }] });
  });

  test('with an id that this dialog never gave out it begins anew', async () => {
    const run = await ask(await connect(), 'm1');
    run.text('answer');
    const client = await subscribed('default', 999_999);
    expect(client.frames[0].content.lastEventId).toBeLessThan(999_999);
    run.text(' goes on');
    run.end();
    await client.end('m1');
    expect(textOf(client.frames)).toBe('answer goes on');
  });

  test('a long absence is replayed page by page while the dialog goes on', async () => {
    const asker = await connect();
    const run = await ask(asker, 'm1');
    let said = '';
    for (let count = 0; count < 1300; count += 1) {
      run.text(`${count} `);
      said += `${count} `;
      run.step();
    }
    const client = await connect();
    client.send({ type: 'subscribe', sessionId: 'default', lastEventId: 0 });
    await client.wait((frame) => frame.type === 'text');
    for (let count = 0; count < 20; count += 1) {
      run.text('live ');
      said += 'live ';
      await call(server, '/api/ping');
    }
    run.end();
    await client.end('m1');
    await client.wait((frame) => frame.type === 'sync');
    expect(textOf(client.frames)).toBe(said);
    const ids = client.frames.filter((frame) => frame.type === 'text').map((frame) => frame.eventId);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  });

  test('a message of its own that runs while older frames are still replayed comes once', async () => {
    const first = await ask(await connect(), 'm1');
    for (let count = 0; count < 1300; count += 1) {
      first.text(`${count} `);
      first.step();
    }
    first.end();
    server.daemon.answer = (run) => {
      run.text('own');
      run.end();
    };
    const client = await connect();
    client.send({ type: 'subscribe', sessionId: 'default', lastEventId: 0 });
    client.send(text('m2'));
    await client.wait((frame) => frame.type === 'sync');
    await client.end('m2');
    await client.sync();
    expect(textOf(client.frames, 'm2')).toBe('own');
    expect(client.frames.filter((frame) => frame.type === 'end' && frame.messageId === 'm2')).toHaveLength(1);
  });
});

type Action = 'text' | 'step' | 'drop' | 'tool';

test('a client that loses its connection anywhere has the whole answer once, without holes or doubles', async () => {
  let messageCount = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom<Action>('text', 'text', 'text', 'step', 'tool', 'drop'), { maxLength: 25 }),
      fc.infiniteStream(fc.boolean()),
      async (actions, readsBeforeDrop) => {
        messageCount += 1;
        const messageId = `m${messageCount}`;
        let client = await subscribed();
        let lastEventId: number = client.frames[0].content.lastEventId;
        const got: Frame[] = [];
        const asker = await connect();
        const run = await ask(asker, messageId);
        let said = '';
        let reads = client.frames.length;
        const collect = () => {
          for (const frame of client.frames.slice(reads)) {
            if (frame.eventId !== undefined) {
              got.push(frame);
              lastEventId = frame.eventId;
            }
            if (frame.type === 'sync') lastEventId = frame.content.lastEventId;
          }
          reads = client.frames.length;
        };
        for (const action of actions) {
          if (action === 'text') {
            const delta = `${said.length} `;
            said += delta;
            run.text(delta);
          } else if (action === 'step') {
            run.step();
          } else if (action === 'tool') {
            run.step([{ callId: `c${said.length}`, name: 'clock', input: {} }]);
            run.emit({ type: 'tool-call', step: 1, callId: `c${said.length}`, name: 'clock', input: {} });
          } else {
            if (readsBeforeDrop.next().value) await client.sync();
            client.close();
            await client.closed;
            collect();
            client = await connect();
            reads = 0;
            client.send({ type: 'subscribe', sessionId: 'default', lastEventId });
            if (readsBeforeDrop.next().value) await client.wait((frame) => frame.type === 'sync');
          }
        }
        run.end();
        await client.end(messageId);
        await client.sync();
        collect();
        expect(textOf(got, messageId)).toBe(said);
        const ids = got.map((frame) => frame.eventId);
        expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
        client.close();
        asker.close();
      },
    ),
    { numRuns: 50, seed: 11 },
  );
});

/** The doors over the real daemon: its queue, store and event feed instead of the fakes. */
import { beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { callTool, hang, type ScriptedModel, say, scriptedModel } from '../fakes/scripted-model.js';
import { startDaemon, type TestDaemon } from '../harness/daemon.js';

const token = 'test-token-of-enough-length';
let model: ScriptedModel;
let daemon: TestDaemon;
beforeEach(async () => {
  model = scriptedModel([]);
  daemon = await startDaemon({ model, withGateway: true, config: { gateway: { port: 0 } } });
});

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(daemon.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    body: JSON.stringify(body),
  });

// biome-ignore lint/suspicious/noExplicitAny: tests read members that they expect to be there.
type Frame = any;

async function connect(): Promise<{
  send(frame: object): void;
  frames: Frame[];
  until(is: (frame: Frame) => boolean): Promise<Frame>;
  close(): void;
}> {
  const socket = new WebSocket(`${daemon.url.replace('http', 'ws')}/ws`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const frames: Frame[] = [];
  const checks = new Set<() => void>();
  socket.on('message', (data) => {
    frames.push(JSON.parse(data.toString()));
    for (const check of checks) check();
  });
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  return {
    frames,
    send: (frame) => socket.send(JSON.stringify(frame)),
    until: (is) =>
      new Promise((resolve) => {
        const check = () => {
          const found = frames.find(is);
          if (found) resolve(found);
        };
        checks.add(check);
        check();
      }),
    close: () => socket.terminate(),
  };
}

describe('over HTTP', () => {
  test('a question is answered, and answered again from the store', async () => {
    model.push(say('Hello there.'));
    const body = { sessionId: 'default', messageId: 'm1', text: 'hello' };
    const first = await (await post('/api/chat', body)).json();
    expect(first).toMatchObject({ sessionId: 'http:default:default', text: 'Hello there.', stopReason: 'end_turn' });
    expect(await (await post('/api/chat', body)).json()).toEqual(first);
    expect(model.requests).toHaveLength(1);
  });

  test('the stream of a stored run joined anywhere is the whole answer', async () => {
    model.push(callTool('calculator', { expression: '17*23' }, { text: 'Let me see. ' }));
    model.push(say('', { chunks: ['It ', 'is ', '391', '.'] }));
    const body = { sessionId: 'default', messageId: 'm1', text: '17*23?', stream: true };
    const read = async (lastEventId: number) => {
      const text = await (await post('/api/chat', body, { 'last-event-id': String(lastEventId) })).text();
      const events = text.split('\n\n').flatMap((block) => /^data: (.*)$/m.exec(block)?.[1] ?? []);
      return events.map((json) => JSON.parse(json));
    };
    const textOf = (events: Frame[]) => events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
    const live = await read(0);
    expect(textOf(live)).toBe('Let me see. It is 391.');
    for (const { id } of live) {
      const before = live.filter((event) => event.id <= id);
      expect(textOf([...before, ...(await read(id))]), `broken after ${id}`).toBe('Let me see. It is 391.');
    }
  });

  test('a slash command is answered too', async () => {
    const answer = await (await post('/api/chat', { sessionId: 'default', text: '/help' })).json();
    expect(answer).toMatchObject({ stopReason: 'end_turn', text: expect.stringContaining('/new') });
  });

  test('without a sessionId a client-chosen id finds its run', async () => {
    model.push(say('one'), say('two'));
    const named = post('/api/chat', { sessionId: 'default', messageId: 'same', text: 'first' });
    const unnamed = post('/api/chat', { messageId: 'same', text: 'second' });
    const answers = await Promise.all([(await named).json(), (await unnamed).json()]);
    expect(new Set(answers.map((answer: Frame) => answer.runId)).size).toBe(2);
  });

  test('whoever waits when the daemon stops is told that the message is kept', async () => {
    model.push(hang());
    const answer = post('/api/chat', { sessionId: 'default', text: 'hello' });
    await model.called(1);
    await daemon.stop();
    const response = await answer;
    expect([response.status, ((await response.json()) as Frame).error.code]).toEqual([503, 'shutting_down']);
  });
});

describe('over WebSocket', () => {
  test('a turn streams, a stop cancels it, and a follower sees both once', async () => {
    const [asker, follower] = [await connect(), await connect()];
    follower.send({ type: 'subscribe', sessionId: 'default' });
    await follower.until((frame) => frame.type === 'sync');
    model.push(say('', { chunks: ['Hel', 'lo.'] }));
    asker.send({ type: 'text', sessionId: 'default', messageId: 'm1', content: { text: 'hi' } });
    for (const client of [asker, follower]) {
      await client.until((frame) => frame.type === 'end' && frame.messageId === 'm1');
      expect(client.frames.filter((frame) => frame.type === 'text').map((frame) => frame.content)).toEqual([
        'Hel',
        'lo.',
      ]);
    }
    model.push(hang());
    asker.send({ type: 'text', sessionId: 'default', messageId: 'm2', content: { text: 'more' } });
    await model.called(2);
    asker.send({ type: 'stop', sessionId: 'default' });
    for (const client of [asker, follower]) {
      const end = await client.until((frame) => frame.type === 'end' && frame.messageId === 'm2');
      expect(end.content.stopReason).toBe('cancelled');
    }
    const added = follower.frames.filter((frame) => frame.type === 'history/add').map((frame) => frame.content[0].text);
    expect(added.slice(0, 3)).toEqual(['hi', 'Hello.', 'more']);
    asker.close();
    follower.close();
  });

  test('a dialog that began over WebSocket goes on over HTTP', async () => {
    model.push(say('one'), say('two'));
    const client = await connect();
    client.send({ type: 'text', sessionId: 'default', messageId: 'm1', content: { text: 'first' } });
    await client.until((frame) => frame.type === 'end');
    const answer = await (await post('/api/chat', { sessionId: 'websocket:web:default', text: 'second' })).json();
    expect(answer).toMatchObject({ sessionId: 'websocket:web:default', text: 'two' });
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('first');
    client.close();
  });
});

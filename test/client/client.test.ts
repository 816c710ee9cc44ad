import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { type ClientOptions, connect, maxPendingTurns } from '../../src/client/client.js';
import type { ConnectionState } from '../../src/client/link.js';
import { UserError } from '../../src/protocol/errors.js';
import { type SessionId, sessionId } from '../../src/protocol/ids.js';
import { token } from '../gateway/server.js';
import { type FakeServer, sendJson, startFakeServer, sync, turnFrames } from './fake-server.js';
import { answerOf, framesOf, hastyClock, manualClock, startGround, textOf, until } from './ground.js';

const dialog = 'cli_chat:terminal:default' as SessionId;

function connectTo(server: { url: string }, more: Partial<ClientOptions> = {}) {
  const states: ConnectionState[] = [];
  const client = connect({
    url: server.url,
    token: 'right',
    signal: new AbortController().signal,
    WebSocket,
    clock: hastyClock(),
    random: () => 0,
    onState: (state) => states.push(state),
    ...more,
  });
  onTestFinished(() => client.close());
  return { client, states };
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error: unknown) => (error instanceof UserError ? error.code : String(error)),
  );

describe('a turn', () => {
  test('gives its frames in order and ends with its end', async () => {
    const { server, client: open } = await startGround();
    const frames = await framesOf(open().send('hello'));
    expect(textOf(frames)).toBe('echo: hello');
    expect(frames.at(0)?.type).toBe('start');
    expect(frames.at(-1)?.type).toBe('end');
    expect(server.daemon.received[0]).toMatchObject({ channel: 'cli_chat', chatId: 'terminal', dialogId: 'default' });
  });

  test('that failed gives the error, then its end', async () => {
    const { client: open } = await startGround({
      answer: (run) =>
        run.end({ stopReason: 'model_error', error: { code: 'model_unreachable', message: 'Check it.' } }),
    });
    const frames = await framesOf(open().send('hello'));
    expect(frames.map((frame) => frame.type)).toEqual(['start', 'error', 'end']);
    expect(frames[1]).toMatchObject({ content: { code: 'model_unreachable' } });
  });

  test('that the server does not take throws what the server says', async () => {
    const { client: open } = await startGround();
    expect(await codeOf(answerOf(open().send('hello', { sessionId: 'nowhere' })))).toBe('session_not_found');
  });

  test('sent twice under one id runs once', async () => {
    const { server, client: open } = await startGround();
    const client = open();
    expect(await answerOf(client.send('hello', { messageId: 'one' }))).toBe('echo: hello');
    expect(await answerOf(client.send('hello', { messageId: 'one' }))).toBe('echo: hello');
    expect(server.daemon.runCount).toBe(1);
    expect(await codeOf(answerOf(client.send('other', { messageId: 'one' })))).toBe('message_id_reused');
  });

  test('is stopped, also when the wish came while the connection was down', async () => {
    const { server, proxy, client: open } = await startGround({ answer: undefined });
    const client = open();
    for (const isDown of [false, true]) {
      const turn = client.send('hello');
      const frames = framesOf(turn);
      const taken = server.daemon.received.length + 1;
      await until(() => server.daemon.received.length === taken);
      server.daemon.begin(dialog).text('begun');
      if (isDown) {
        proxy.isDown = true;
        proxy.cut();
        await until(() => client.state.name === 'waiting');
      }
      turn.stop();
      proxy.isDown = false;
      expect((await frames).at(-1)).toMatchObject({ type: 'end', content: { stopReason: 'cancelled' } });
    }
  });

  test('whose reader leaves early goes on without it', async () => {
    const { server, client: open } = await startGround({ answer: undefined });
    const client = open();
    const turn = client.send('hello');
    await until(() => server.daemon.received.length === 1);
    const run = server.daemon.begin(dialog);
    for await (const frame of turn) if (frame.type === 'start') break;
    run.text('later');
    run.end();
    await client.system('getVersion');
    expect(server.daemon.control.messages(dialog).at(-1)?.text).toBe('later');
  });

  test('beyond what one connection may wait for is refused at once', async () => {
    const { client: open } = await startGround({ answer: undefined });
    const client = open();
    for (let count = 0; count < maxPendingTurns; count += 1) void codeOf(answerOf(client.send('hello')));
    expect(() => client.send('one more')).toThrow(expect.objectContaining({ code: 'too_many_turns' }));
  });
});

describe('settings and system', () => {
  test('are answered, by what was asked for or by the error', async () => {
    const { server, client: open } = await startGround();
    const client = open();
    expect(await client.system('getVersion')).toEqual({ version: '1.2.3' });
    expect(await client.setting('getConfig')).toMatchObject({ agent: { model: 'fake/model' } });
    server.refuseSaving(new UserError('invalid_config', 'No.'));
    expect(await codeOf(client.setting('saveConfig', {}))).toBe('invalid_config');
  });

  test('a question is asked again after a cut, a change is not', async () => {
    const fake = await startFakeServer();
    const { client } = connectTo(fake);
    const version = client.system('getVersion');
    await until(() => fake.connections.length === 1 && fake.connections[0]!.frames.length === 1);
    const change = codeOf(client.setting('saveConfig', {}));
    await until(() => fake.connections[0]!.frames.length === 2);
    fake.onFrame = (frame, connection) =>
      connection.send({
        type: frame.type,
        act: 'x',
        status: 'success',
        data: 'now',
        messageId: (frame as { messageId: string }).messageId,
      });
    fake.connections[0]!.terminate();
    expect(await version).toBe('now');
    expect(await change).toBe('connection_lost');
    expect(fake.connections[1]!.frames).toHaveLength(1);
  });
});

describe('connecting', () => {
  test('names channel and chat, and shows the token in the header alone', async () => {
    const fake = await startFakeServer();
    connectTo({ url: `${fake.url}/` }, { channel: 'cli_chat', chat: 'wörk &1' });
    await until(() => fake.connections.length === 1);
    expect(fake.connections[0]).toMatchObject({
      url: '/ws?channel=cli_chat&chat=w%C3%B6rk+%261',
      authorization: 'Bearer right',
    });
  });

  test('a wrong token ends it with what the server says, without another attempt', async () => {
    const { server, client: open } = await startGround();
    const states: ConnectionState[] = [];
    const client = open({ token: 'wrong', onState: (state) => states.push(state) });
    expect(await codeOf(answerOf(client.send('hello')))).toBe('unauthorized');
    expect(states.map((state) => state.name)).toEqual(['connecting', 'closed']);
    expect(server.daemon.received).toHaveLength(0);
    expect(() => client.send('again')).toThrow(expect.objectContaining({ code: 'unauthorized' }));
  });

  test('a chat name that the server refuses ends it', async () => {
    const { client: open } = await startGround();
    expect(await codeOf(answerOf(open({ chat: 'x'.repeat(300) }).send('hello')))).toBe('refused');
  });

  test('pauses grow while nobody answers and begin anew after a frame', async () => {
    const { proxy, client: open } = await startGround();
    const clock = manualClock();
    const pauses: number[] = [];
    proxy.isDown = true;
    const client = open({ clock, onState: (state) => state.name === 'waiting' && pauses.push(state.pauseMs) });
    for (let attempt = 1; attempt <= 9; attempt += 1) {
      await until(() => pauses.length === attempt);
      if (attempt === 9) proxy.isDown = false;
      clock.pass(30_000);
    }
    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
    expect(await answerOf(client.send('hello'))).toBe('echo: hello');
    proxy.cut();
    await until(() => pauses.length === 10);
    expect(pauses.at(-1)).toBe(500);
  });

  test('a peer that has vanished is found out and left for a new connection', async () => {
    const { proxy, client: open } = await startGround();
    const clock = manualClock();
    const client = open({ clock });
    await until(() => client.state.name === 'open');
    const answer = answerOf(client.send('first'));
    expect(await answer).toBe('echo: first');
    proxy.isDead = true;
    const lost = answerOf(client.send('second'));
    clock.pass(30_000);
    expect(clock.waiting).toEqual([10_000]);
    clock.pass(10_000);
    proxy.isDead = false;
    await until(() => client.state.name === 'waiting');
    clock.pass(500);
    expect(await lost).toBe('echo: second');
  });

  test('whatever does not speak the protocol is left for good', async () => {
    for (const words of ['<html>', 'null\nnope', '{"type":"text"']) {
      const fake = await startFakeServer();
      fake.onConnection = (connection) => connection.sendRaw(words);
      const { client, states } = connectTo(fake);
      expect(await codeOf(answerOf(client.send('hello')))).toBe('bad_answer');
      expect(states.at(-1)?.name).toBe('closed');
    }
  });

  test('frames that this client does not know are passed over', async () => {
    const fake = await startFakeServer();
    const { client } = connectTo(fake);
    const answer = answerOf(client.send('hello', { messageId: 'm' }));
    await until(() => fake.connections[0]?.frames.length === 1);
    const turn = turnFrames('m');
    fake.connections[0]!.send(
      turn.start(),
      { type: 'weather', content: 'sun' },
      { type: 'text' },
      7,
      turn.text('hi'),
      turn.end('hi'),
    );
    expect(await answer).toBe('hi');
  });

  test('an aborted signal ends everything with its reason', async () => {
    const { client: open } = await startGround({ answer: undefined });
    const abort = new AbortController();
    const client = open({ signal: abort.signal });
    const waiting = [
      answerOf(client.send('hello')),
      client.system('getVersion'),
      framesOf(client.subscribe() as never),
    ];
    abort.abort(new Error('enough'));
    for (const each of waiting) expect(await codeOf(each as Promise<unknown>)).toBe('Error: enough');
    expect(client.state.name).toBe('closed');
  });
});

describe('a daemon that is restarted', () => {
  async function begin(fake: FakeServer) {
    const { client } = connectTo(fake);
    const frames = framesOf(client.send('hello', { messageId: 'm' }));
    await until(() => fake.connections[0]?.frames.length === 1);
    return { client, frames, first: fake.connections[0]! };
  }

  test('goes on with a turn that had begun; its ends before the restart are none', async () => {
    const fake = await startFakeServer();
    const { frames, first } = await begin(fake);
    const turn = turnFrames('m');
    first.send(turn.start(), turn.text('half an '));
    first.send(turn.start('none'), turn.error('shutting_down', 'Later.'), turn.end('', 'model_error'));
    fake.onFrame = (frame, connection) => {
      if (frame.type !== 'subscribe') return;
      expect(frame.lastEventId).toBe(2);
      connection.send(turn.start('fake/model', 2, 1_000_002), turn.text('half an answer'), turn.end('half an answer'));
      connection.send(sync([{ id: 1, messageId: 'm', runId: 'run_1', role: 'user', text: 'hello', at: 0 }], 1_000_004));
    };
    first.close(1001, 'PicoBot is stopping');
    const got = await frames;
    expect(got.map((frame) => frame.type)).toEqual(['start', 'text', 'start', 'text', 'end']);
    expect(got[2]).toMatchObject({ content: { attempt: 2 } });
    await until(() => fake.connections[1]!.frames.some((frame) => frame.type === 'unsubscribe'));
    expect(fake.connections[1]!.frames.map((frame) => frame.type)).toEqual(['subscribe', 'unsubscribe']);
  });

  test('gets a message again that it only had in its queue', async () => {
    const fake = await startFakeServer();
    const { frames, first } = await begin(fake);
    const before = turnFrames('m', 'run_none');
    first.send(before.start('none'), before.error('shutting_down', 'Later.'), before.end('', 'model_error'));
    const turn = turnFrames('m');
    fake.onFrame = (frame, connection) => {
      expect(frame).toMatchObject({ type: 'text', messageId: 'm', content: { text: 'hello' } });
      connection.send(turn.start(), turn.text('here'), turn.end('here'));
    };
    first.close(1001);
    expect(textOf(await frames)).toBe('here');
  });

  test('that is not ready yet is asked again on the same connection', async () => {
    const fake = await startFakeServer();
    fake.onFrame = (_, connection) => {
      const turn = turnFrames('m');
      const refusal = {
        type: 'error',
        sessionId: 'default',
        messageId: 'm',
        content: { code: 'not_ready', message: 'Soon.' },
      };
      if (connection.frames.length === 1) connection.send(refusal);
      else connection.send(turn.start(), turn.end('now'));
    };
    const { client } = connectTo(fake);
    expect((await framesOf(client.send('hello', { messageId: 'm' }))).at(-1)).toMatchObject({
      content: { text: 'now' },
    });
    expect(fake.connections).toHaveLength(1);
  });

  test('with another database gets the message as a new one', async () => {
    const fake = await startFakeServer();
    const { frames, first } = await begin(fake);
    const turn = turnFrames('m');
    first.send(turn.start(), turn.text('lost', 77));
    const again = turnFrames('m', 'run_9');
    fake.onFrame = (frame, connection) => {
      if (frame.type === 'subscribe') connection.send(sync([], 0));
      if (frame.type === 'text') connection.send(again.start(), again.text('anew'), again.end('anew'));
    };
    await until(() => first.frames.length === 1);
    first.terminate();
    expect((await frames).map((frame) => ('content' in frame ? frame.content : ''))).toMatchObject([
      { attempt: 1 },
      'lost',
      { attempt: 1 },
      'anew',
      { text: 'anew' },
    ]);
  });

  test('and shows no trace of a message in what it tells gets it again; a replay of the same run doubles nothing', async () => {
    const fake = await startFakeServer();
    const { frames, first } = await begin(fake);
    const turn = turnFrames('m');
    first.send(turn.start(), turn.text('one '), turn.text('two '));
    fake.onFrame = (frame, connection) => {
      if (frame.type === 'subscribe') connection.send(sync([], 3));
      if (frame.type !== 'text') return;
      connection.send(turn.start('fake/model', 1, 1), turn.text('one two three', 4), turn.end('one two three'));
    };
    await until(() => first.frames.length === 1);
    first.terminate();
    const got = await frames;
    expect(textOf(got)).toBe('one two three');
    expect(got.filter((frame) => frame.type === 'start')).toHaveLength(1);
  });

  test('a message that ended before its turn is over', async () => {
    const fake = await startFakeServer();
    const { frames, first } = await begin(fake);
    const turn = turnFrames('m');
    first.send(turn.start('none'), turn.end('', 'cancelled'));
    expect((await frames).map((frame) => frame.type)).toEqual(['end']);
  });

  test('a message too large for the server fails alone', async () => {
    const { client: open } = await startGround({ config: { maxTextBytes: 2000 } });
    const client = open();
    const large = codeOf(answerOf(client.send('x'.repeat(3000))));
    const small = answerOf(client.send('small'));
    expect(await large).toBe('message_too_large');
    expect(await small).toBe('echo: small');
  });
});

describe('a subscription', () => {
  test('tells what others do and leaves out what is ours, over a cut too', async () => {
    const { server, proxy, client: open } = await startGround();
    const other = open();
    const client = open();
    await answerOf(other.send('before'));
    const types: string[] = [];
    let text = '';
    const messages = new Set<string>();
    const added: string[] = [];
    void (async () => {
      for await (const frame of client.subscribe()) {
        types.push(frame.type);
        if (frame.type === 'text') text += frame.content;
        if (frame.type === 'sync') for (const each of frame.content.messages) messages.add(each.text);
        if (frame.type === 'history/add') added.push(...frame.content.map((each) => each.text));
      }
    })().catch(() => {});
    await until(() => types.includes('sync'));
    expect(await answerOf(client.send('mine'))).toBe('echo: mine');
    expect(await answerOf(other.send('theirs'))).toBe('echo: theirs');
    await until(() => types.includes('end'));
    expect(text).toBe('echo: theirs');

    server.daemon.answer = undefined;
    const theirs = answerOf(other.send('more'));
    await until(() => server.daemon.received.length === 4);
    const run = server.daemon.begin(dialog);
    run.text('one ', 'two ');
    await until(() => text.endsWith('two '));
    proxy.cut();
    run.text('three');
    run.end();
    expect(await theirs).toBe('one two three');
    await until(() => text.endsWith('three'));
    expect(text).toBe('echo: theirsone two three');
    for (const each of ['before', 'mine', 'theirs', 'more', 'one two three']) expect([...messages]).toContain(each);
    expect(added.slice(0, 3)).toEqual(['theirs', 'echo: theirs', 'more']);
  });

  test('of a dialog that is not there fails; a message to it as well', async () => {
    const { client: open } = await startGround();
    const client = open();
    await until(() => client.state.name === 'open');
    const watch = client.subscribe('nowhere');
    const turn = client.send('hello', { sessionId: 'nowhere' });
    expect(await codeOf(framesOf(watch as never))).toBe('session_not_found');
    expect(await codeOf(answerOf(turn))).toBe('session_not_found');
    expect(client.stop('nowhere')).toBe(true);
    expect(await answerOf(client.send('still here'))).toBe('echo: still here');
  });

  test('of a dialog ends when its reader leaves', async () => {
    const fake = await startFakeServer();
    fake.onFrame = (frame, connection) => {
      if (frame.type === 'subscribe') connection.send(sync([], 0, frame.sessionId));
    };
    const { client } = connectTo(fake);
    for await (const frame of client.subscribe('d_1')) {
      expect(frame.type).toBe('sync');
      break;
    }
    await until(() => fake.connections[0]!.frames.length === 2);
    expect(fake.connections[0]!.frames.map((frame) => frame.type)).toEqual(['subscribe', 'unsubscribe']);
  });

  test('goes on with full ids as names', async () => {
    const { server, client: open } = await startGround();
    const { id } = server.daemon.createSession('websocket', 'web', 'd_1');
    const client = open();
    expect(id).toBe(sessionId({ channel: 'websocket', chatId: 'web', dialogId: 'd_1' }));
    expect(await answerOf(client.send('hello', { sessionId: id }))).toBe('echo: hello');
    expect(server.daemon.received[0]).toMatchObject({ channel: 'websocket', chatId: 'web', dialogId: 'd_1' });
  });
});

test('the token of the tests is no token of the fake server', async () => {
  const fake = await startFakeServer();
  fake.refuseWith = 401;
  fake.onRequest = (_, response) => sendJson(response, 401, { error: { code: 'unauthorized', message: 'No.' } });
  const { client } = connectTo(fake, { token });
  expect(await codeOf(answerOf(client.send('hello')))).toBe('unauthorized');
  expect(fake.requests).toEqual(['GET /api/ping']);
});

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UserError } from '../../../src/protocol/errors.js';
import type { SessionId } from '../../../src/protocol/ids.js';
import { call, startServer, type TestServer } from '../../gateway/server.js';
import { type Client, connect as connectTo, text, textOf, typesOf } from './ws-client.js';

const webId = 'websocket:web:default' as SessionId;
let server: TestServer;
let clients: Client[];
beforeEach(async () => {
  server = await startServer();
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
const errorOf = (client: Client, code: string) =>
  client.wait((frame) => frame.type === 'error' && frame.content.code === code);

describe('a turn', () => {
  test('streams its frames, each with the names that the client chose, and ends', async () => {
    const client = await connect();
    client.send(text('m1', 'hello'));
    await client.end('m1');
    expect(typesOf(client.frames)).toEqual(['start', 'text', 'text', 'text', 'end']);
    expect(textOf(client.frames)).toBe('echo: hello');
    for (const frame of client.frames) {
      expect(frame).toMatchObject({
        sessionId: 'default',
        messageId: 'm1',
        runId: 'run_1',
        eventId: expect.any(Number),
      });
    }
    expect(client.frames.at(-1).content).toEqual({
      stopReason: 'end_turn',
      usage: { outputTokens: 3 },
      text: 'echo: hello',
    });
    expect(server.daemon.received[0]).toMatchObject({ channel: 'websocket', chatId: 'web', dialogId: 'default' });
    expect(server.daemon.received[0]).not.toHaveProperty('expectsOwnAnswer');
  });

  test('shows reasoning, notices, and tool calls when they start and when they end', async () => {
    server.daemon.answer = (run) => {
      run.emit({ type: 'reasoning-delta', step: 1, text: 'let me see' });
      run.step([{ callId: 'c1', name: 'calculator', input: { expression: '17*23' } }]);
      run.emit({ type: 'tool-call', step: 1, callId: 'c1', name: 'calculator', input: { expression: '17*23' } });
      run.emit({
        type: 'tool-result',
        step: 1,
        callId: 'c1',
        name: 'calculator',
        state: 'done',
        output: '391',
        durationMs: 2,
      });
      run.emit({ type: 'notice', text: 'nearly there' });
      run.text('391');
      run.end();
    };
    const client = await connect();
    client.send(text('m1'));
    await client.end('m1');
    expect(typesOf(client.frames)).toEqual(['start', 'reasoning', 'tool_calls', 'tool_calls', 'notice', 'text', 'end']);
    const call = { id: 'c1', name: 'calculator', input: { expression: '17*23' } };
    expect(client.frames[2].content).toEqual([{ ...call, state: 'running' }]);
    expect(client.frames[3].content).toEqual([{ ...call, state: 'done', result: '391' }]);
  });

  test('a failed run is an error and an end', async () => {
    server.daemon.answer = (run) =>
      run.end({ stopReason: 'model_error', error: { code: 'model_unreachable', message: 'Check it.' } });
    const client = await connect();
    client.send(text('m1'));
    await client.end('m1');
    expect(typesOf(client.frames)).toEqual(['start', 'error', 'end']);
    expect(client.frames[1]).toMatchObject({
      sessionId: 'default',
      messageId: 'm1',
      content: { code: 'model_unreachable', message: 'Check it.' },
    });
  });

  test('messages that were merged into one run each get its frames and its end', async () => {
    server.daemon.answer = undefined;
    const client = await connect();
    client.send(text('m1'));
    client.send(text('m2'));
    await client.sync();
    const run = server.daemon.begin(webId, 2);
    run.text('for both');
    run.end();
    await Promise.all([client.end('m1'), client.end('m2')]);
    for (const id of ['m1', 'm2']) expect(textOf(client.frames, id)).toBe('for both');
  });

  test('the channel and the chat come from the address', async () => {
    const client = await connect('?channel=cli_chat');
    client.send(text('m1'));
    await client.end('m1');
    const named = await connect('?channel=cli_chat&chat=work');
    named.send(text('m1'));
    await named.end('m1');
    expect(server.daemon.received.map(({ channel, chatId }) => [channel, chatId])).toEqual([
      ['cli_chat', 'terminal'],
      ['cli_chat', 'work'],
    ]);
    for (const query of [
      '?channel=telegram',
      '?chat=',
      `?chat=${'x'.repeat(201)}`,
      '?chat=a%00b',
      '?channel=__proto__',
    ]) {
      expect(await (await connect(query)).closed, query).toBe(1008);
    }
  });

  test('names dialogs as HTTP does, and goes on with dialogs of other local doors', async () => {
    server.daemon.createSession('http', 'default', 'd1');
    server.daemon.createSession('telegram', '42', 'd1');
    const client = await connect();
    client.send(text('m1', 'hi', 'http:default:d1'));
    expect(await client.end('m1')).toMatchObject({ sessionId: 'http:default:d1' });
    for (const [sessionId, code] of [
      ['nowhere', 'session_not_found'],
      ['telegram:42:d1', 'session_read_only'],
      ['a:b', 'invalid_session_id'],
    ] as const) {
      client.send(text('m2', 'hi', sessionId));
      expect(await errorOf(client, code)).toMatchObject({ sessionId, messageId: 'm2' });
    }
  });

  test('a message without an id gets one', async () => {
    const client = await connect();
    client.send({ type: 'text', content: { text: 'hi' } });
    const end = await client.wait((frame) => frame.type === 'end');
    expect(end).toMatchObject({ sessionId: 'default', messageId: server.daemon.received[0]?.messageId });
  });

  test('a message that is not taken is an error with its names', async () => {
    server.daemon.refusal = new UserError('queue_full', 'Too much waits.', { status: 429 });
    const client = await connect();
    client.send(text('m1'));
    expect(await errorOf(client, 'queue_full')).toMatchObject({ sessionId: 'default', messageId: 'm1' });
    server.daemon.refusal = undefined;
    client.send(text('m1'));
    await client.end('m1');
  });

  test('no more than 32 messages of one connection wait at once', async () => {
    server.daemon.answer = undefined;
    const client = await connect();
    for (let count = 1; count <= 33; count += 1) client.send(text(`m${count}`));
    expect(await errorOf(client, 'too_many_turns')).toMatchObject({ messageId: 'm33' });
    server.daemon.begin(webId).end();
    await client.end('m1');
    client.send(text('m33'));
    await client.sync();
    expect(server.daemon.received).toHaveLength(33);
  });

  test('messages are stored in the order in which they came', async () => {
    const client = await connect();
    for (let count = 1; count <= 20; count += 1) client.send(text(`m${count}`));
    await client.end('m20');
    expect(server.daemon.received.map(({ messageId }) => messageId)).toEqual(
      Array.from({ length: 20 }, (_, index) => `m${index + 1}`),
    );
  });
});

describe('a message that is sent again', () => {
  test('gets the whole answer again without running again', async () => {
    const client = await connect();
    client.send(text('m1', 'hello'));
    await client.end('m1');
    const again = await connect();
    again.send(text('m1', 'hello'));
    await again.end('m1');
    expect(textOf(again.frames)).toBe('echo: hello');
    expect(server.daemon.runCount).toBe(1);
  });

  test('while its answer streams on the same connection, changes nothing', async () => {
    server.daemon.answer = undefined;
    const client = await connect();
    client.send(text('m1'));
    await client.sync();
    const run = server.daemon.begin(webId);
    run.text('one ');
    client.send(text('m1'));
    await client.sync();
    run.text('two');
    run.end();
    await client.end('m1');
    await client.sync();
    expect(textOf(client.frames)).toBe('one two');
  });

  test('with another text is refused', async () => {
    const client = await connect();
    client.send(text('m1', 'hello'));
    await client.end('m1');
    client.send(text('m1', 'other'));
    expect(await errorOf(client, 'message_id_reused')).toMatchObject({ messageId: 'm1' });
  });
});

describe('stop', () => {
  test('ends the turn with cancelled', async () => {
    server.daemon.answer = (run) => run.text('so far');
    const client = await connect();
    client.send(text('m1'));
    await client.wait((frame) => frame.type === 'text');
    client.send({ type: 'stop', sessionId: 'default', messageId: 'm1' });
    expect(await client.end('m1')).toMatchObject({ content: { stopReason: 'cancelled', text: 'so far' } });
  });

  test('another client may stop the turn and hears of its end once', async () => {
    server.daemon.answer = (run) => run.text('so far');
    const [client, other] = [await connect(), await connect()];
    client.send(text('m1'));
    await client.wait((frame) => frame.type === 'text');
    other.send({ type: 'stop', sessionId: 'default' });
    expect(await other.end('m1')).toMatchObject({ runId: 'run_1', content: { stopReason: 'cancelled' } });
    await client.end('m1');
    await other.sync();
    expect(other.frames.filter((frame) => frame.type === 'end')).toHaveLength(1);
  });

  test('where nothing runs, or when the message is answered already, it says so', async () => {
    const client = await connect();
    client.send(text('m1'));
    await client.end('m1');
    client.send({ type: 'stop', sessionId: 'default' });
    await errorOf(client, 'run_not_found');
    server.daemon.answer = (run) => run.text('on and on');
    client.send(text('m2'));
    await client.wait((frame) => frame.content === 'on and on');
    client.send({ type: 'stop', sessionId: 'default', messageId: 'm1' });
    await client.wait((frame) => frame.type === 'error' && frame.messageId === 'm1');
    await client.sync();
    expect(client.frames.some((frame) => frame.type === 'end' && frame.messageId === 'm2')).toBe(false);
  });
});

describe('settings and facts', () => {
  test('are answered at once, without a turn', async () => {
    const client = await connect();
    for (const [type, act, data] of [
      ['system', 'getVersion', { version: '1.2.3' }],
      ['system', 'getModels', { models: [{ id: 'fake/model', name: 'Fake' }] }],
      ['setting', 'getConfig', { agent: { model: 'fake/model' }, gateway: { token: '••••' } }],
      ['setting', 'getDefaultConfig', { agent: { model: '' } }],
    ] as const) {
      client.send({ type, content: { act } });
      expect(await client.wait((frame) => frame.act === act)).toEqual({ type, status: 'success', act, data });
    }
    expect(server.daemon.runCount).toBe(0);
  });

  test('saving answers with what is in effect, or with what is wrong', async () => {
    const client = await connect();
    client.send({ type: 'setting', messageId: 's1', content: { act: 'saveConfig', data: { agent: {} } } });
    expect(await client.wait((frame) => frame.messageId === 's1')).toMatchObject({
      status: 'success',
      data: { agent: { model: 'fake/model' } },
    });
    expect(server.saved).toEqual([{ agent: {} }]);
    server.refuseSaving(new UserError('config_invalid', 'agent.model: no.', { details: [{ path: 'agent.model' }] }));
    client.send({ type: 'setting', messageId: 's2', content: { act: 'saveConfig', data: {} } });
    expect(await client.wait((frame) => frame.messageId === 's2')).toMatchObject({
      status: 'error',
      data: { code: 'config_invalid', details: [{ path: 'agent.model' }] },
    });
  });
});

describe('batches', () => {
  test('several messages in one frame are each answered, and one more end closes the batch', async () => {
    const client = await connect();
    client.send(text('m1'), { type: 'system', content: { act: 'getVersion' } }, text('m2'));
    const end = await client.wait((frame) => frame.type === 'end' && frame.messageId === undefined);
    expect(end).toEqual({ type: 'end' });
    expect(client.frames.at(-1)).toBe(end);
    expect(typesOf(client.frames.filter((frame) => frame.type === 'end'))).toHaveLength(3);
    expect(textOf(client.frames, 'm2')).toBe('echo: say m2');
  });

  test('a batch ends after its slowest turn, and a wrong message in it harms no other', async () => {
    server.daemon.answer = undefined;
    const client = await connect();
    client.sendRaw(`${JSON.stringify(text('m1'))}\n{"type":"nonsense"}\n\nnot json\n`);
    await errorOf(client, 'unknown_type');
    await errorOf(client, 'invalid_json');
    await client.sync();
    expect(client.frames.some((frame) => frame.type === 'end')).toBe(false);
    server.daemon.begin(webId).end();
    await client.wait((frame) => frame.type === 'end' && frame.messageId === undefined);
    expect(typesOf(client.frames).slice(-2)).toEqual(['end', 'end']);
  });

  test('a message over several lines, or with a line end behind it, is one message', async () => {
    const client = await connect();
    client.sendRaw(`${JSON.stringify(text('m1'), null, 2)}\n`);
    await client.end('m1');
    await client.sync();
    expect(client.frames.filter((frame) => frame.type === 'end')).toHaveLength(1);
  });

  test('a batch has a limit', async () => {
    const client = await connect();
    client.sendRaw('{}\n'.repeat(5000));
    await errorOf(client, 'batch_too_large');
    expect(client.frames).toHaveLength(1);
  });
});

describe('bad input', () => {
  test.each([
    ['{"type": ', 'invalid_json'],
    ['', 'invalid_json'],
    ['[]', 'invalid_request'],
    ['null', 'invalid_request'],
    ['7', 'invalid_request'],
    ['{"type":7}', 'invalid_request'],
    ['{"type":"nonsense"}', 'unknown_type'],
    ['{"type":"constructor"}', 'unknown_type'],
    ['{"type":"chat","content":[]}', 'unsupported_frame'],
    ['{"type":"reply"}', 'unsupported_frame'],
    ['{"type":"text","messageId":"m1"}', 'invalid_request'],
    ['{"type":"text","content":{"text":"  "}}', 'invalid_request'],
    ['{"type":"text","sessionId":5,"content":{"text":"a"}}', 'invalid_request'],
    [`{"type":"text","messageId":"${'x'.repeat(201)}","content":{"text":"a"}}`, 'invalid_request'],
    ['{"type":"system","content":{"act":"reboot"}}', 'invalid_request'],
    ['{"type":"subscribe","lastEventId":-1}', 'invalid_request'],
    [`{"type":"text","content":${'['.repeat(80)}${']'.repeat(80)}}`, 'json_too_deep'],
  ])('%s is refused as %s, and the connection goes on', async (raw, code) => {
    const client = await connect();
    client.sendRaw(raw);
    await errorOf(client, code);
    client.send(text('m1'));
    await client.end('m1');
    expect(server.daemon.received).toHaveLength(1);
  });

  test('an error names what is wrong and repeats the names of the message', async () => {
    const client = await connect();
    client.send({ type: 'text', sessionId: 'default', messageId: 'm1', content: { text: 5 } });
    const error = await errorOf(client, 'invalid_request');
    expect(error).toMatchObject({ sessionId: 'default', messageId: 'm1' });
    expect(error.content.details[0].path).toBe('content.text');
  });

  test('a binary frame is refused', async () => {
    const client = await connect();
    client.sendRaw(Buffer.from([0, 0, 0, 2, 0x7b, 0x7d]), { binary: true });
    await errorOf(client, 'unsupported_frame');
  });

  test('bytes that are not UTF-8 and frames over the limit close this connection, others notice nothing', async () => {
    await server.close();
    server = await startServer({ config: { maxTextBytes: 2000 } });
    const [bystander, garbled, large, invalid] = await Promise.all([connect(), connect(), connect(), connect()]);
    garbled.sendRaw(Buffer.from([0x22, 0xff, 0xfe, 0x22]), { binary: false });
    expect(await garbled.closed).toBe(1007);
    large.send(text('m1', 'x'.repeat(3000)));
    expect(await large.closed).toBe(1009);
    // A frame with reserved bits: the protocol itself is broken.
    (invalid.socket as unknown as { _socket: NodeJS.WritableStream })._socket.write(Buffer.from([0xff, 0xff, 0xff]));
    expect(await invalid.closed).toBe(1002);
    bystander.send(text('m2'));
    await bystander.end('m2');
    expect(server.daemon.received).toHaveLength(1);
  });

  test('a failure inside is an error without details, is logged, and the connection goes on', async () => {
    server.daemon.refusal = new Error('inner detail');
    const client = await connect();
    client.send(text('m1'));
    expect((await errorOf(client, 'internal_error')).content.message).not.toContain('inner');
    expect(server.logged.join()).toContain('inner detail');
    server.daemon.refusal = undefined;
    client.send(text('m2'));
    await client.end('m2');
  });
});

describe('clients that vanish', () => {
  test('a dead peer is ended within two heartbeats, a living one stays', async () => {
    const [dead, alive] = [await connect(), await connect()];
    (dead.socket as unknown as { _socket: { pause(): void } })._socket.pause();
    server.tick(30_000);
    await alive.sync();
    expect(alive.socket.readyState).toBe(alive.socket.OPEN);
    const ended = server.connectionCount();
    server.tick(30_000);
    await alive.sync();
    expect(server.connectionCount()).toBe(ended - 1);
    server.tick(30_000);
    await alive.sync();
  });

  test('the run goes on and is stored', async () => {
    server.daemon.answer = undefined;
    const client = await connect();
    client.send(text('m1'));
    await client.sync();
    const run = server.daemon.begin(webId);
    run.text('one ');
    await client.wait((frame) => frame.type === 'text');
    client.close();
    await client.closed;
    await call(server, '/api/ping');
    expect(run.signal.aborted).toBe(false);
    run.text('two');
    run.end();
    const back = await connect();
    back.send(text('m1'));
    await back.end('m1');
    expect(textOf(back.frames)).toBe('one two');
  });

  test('a client that never reads is let go before it costs much', async () => {
    server.daemon.answer = undefined;
    const [slow, quick] = [await connect(), await connect()];
    for (const client of [slow, quick]) client.send({ type: 'subscribe', sessionId: 'default' });
    await Promise.all([slow, quick].map((client) => client.wait((frame) => frame.type === 'sync')));
    quick.send(text('m1'));
    await quick.sync();
    slow.socket.pause();
    const run = server.daemon.begin(webId);
    const block = 'x'.repeat(100_000);
    for (let count = 0; count < 200; count += 1) {
      run.text(block);
      if (count % 10 !== 9) continue;
      run.step();
      await quick.sync();
    }
    expect(server.logged.join()).toContain('too slowly');
    run.end();
    await quick.end('m1');
    expect(textOf(quick.frames).length).toBe(20_000_000);
    slow.socket.resume();
    expect(await slow.closed).toBe(1013);
    expect(textOf(slow.frames).length).toBeLessThan(20_000_000);
  });

  test('the heartbeat rests while nobody is connected', async () => {
    const client = await connect();
    expect(server.activeTimers()).toBe(1);
    client.close();
    await client.closed;
    while (server.activeTimers() > 0) await call(server, '/api/ping');
  });
});

describe('stopping the daemon', () => {
  test('new messages are refused with a clear answer while open turns go on', async () => {
    server.daemon.answer = undefined;
    const client = await connect();
    client.send(text('m1'));
    await client.sync();
    server.stopChannels();
    client.send(text('m2'));
    expect(await errorOf(client, 'shutting_down')).toMatchObject({ messageId: 'm2' });
    const run = server.daemon.begin(webId);
    run.text('done');
    run.end();
    await client.end('m1');
  });

  test('whoever waits when the server closes is told that the message is kept', async () => {
    server.daemon.answer = undefined;
    const client = await connect();
    client.send(text('m1'));
    await client.sync();
    const closing = server.gateway.close(5000);
    expect(await client.closed).toBe(1001);
    expect(client.frames.at(-1)).toMatchObject({ type: 'error', messageId: 'm1', content: { code: 'shutting_down' } });
    await closing;
  });

  test('a peer that does not answer the close is cut at the deadline', async () => {
    const client = await connect();
    (client.socket as unknown as { _socket: { pause(): void } })._socket.pause();
    const startedAt = performance.now();
    await server.gateway.close(100);
    expect(performance.now() - startedAt).toBeLessThan(3000);
    await sleep(0);
  });
});

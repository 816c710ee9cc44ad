import diagnostics from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UserError } from '../../../src/protocol/errors.js';
import { parseSessionId, type SessionId } from '../../../src/protocol/ids.js';
import { call, startServer, type TestServer } from '../../gateway/server.js';
import { openStream, textOf } from './stream-client.js';

const defaultId = 'http:default:default' as SessionId;
let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

const chat = (body: object) => call(server, '/api/chat', { body });
const errorOf = ({ status, json }: { status: number; json: { error?: { code: string } } }) => [
  status,
  json?.error?.code,
];

describe('an answer in one piece', () => {
  test('comes when the turn has ended', async () => {
    const answer = await chat({ sessionId: 'default', messageId: 'm1', text: 'hello' });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      sessionId: defaultId,
      messageId: 'm1',
      runId: 'run_1',
      text: 'echo: hello',
      stopReason: 'end_turn',
      usage: { outputTokens: 3 },
    });
    expect(server.daemon.received[0]).toMatchObject({
      channel: 'http',
      chatId: 'default',
      dialogId: 'default',
      sender: { role: 'owner' },
      chatType: 'direct',
      expectsOwnAnswer: true,
      sentAt: server.clock.now,
    });
  });

  test('without a sessionId the message names no dialog', async () => {
    const answer = await chat({ text: 'hello' });
    expect(server.daemon.received[0]).not.toHaveProperty('dialogId');
    expect(parseSessionId(answer.json.sessionId)).toMatchObject({ channel: 'http', chatId: 'default' });
    expect(answer.json.messageId).toBe(server.daemon.received[0]?.messageId);
  });

  test('two dialogs of the chat may use the same message id at once', async () => {
    server.daemon.answer = undefined;
    const unnamed = chat({ messageId: 'same', text: 'unnamed' });
    while (server.daemon.received.length < 1) await chat({ text: '' });
    const named = chat({ sessionId: 'default', messageId: 'same', text: 'named' });
    while (server.daemon.received.length < 2) await chat({ text: '' });
    const run = server.daemon.begin(defaultId);
    run.text('for the named');
    run.end();
    expect((await named).json.text).toBe('for the named');
    const other = server.daemon.control.list({}).items.find((session) => session.id !== defaultId)!;
    const second = server.daemon.begin(other.id);
    second.text('for the unnamed');
    second.end();
    expect((await unnamed).json.text).toBe('for the unnamed');
  });

  test('dialogs are named by bare and by full id, also of other local doors', async () => {
    server.daemon.createSession('http', 'default', 'd7');
    server.daemon.createSession('websocket', 'web', 'd8');
    expect((await chat({ sessionId: 'd7', text: 'a' })).json.sessionId).toBe('http:default:d7');
    expect((await chat({ sessionId: 'websocket:web:d8', text: 'b' })).json.sessionId).toBe('websocket:web:d8');
    expect(server.daemon.received[1]).toMatchObject({ channel: 'websocket', chatId: 'web', dialogId: 'd8' });
  });

  test('dialogs that are unknown, of a platform, or no ids are refused', async () => {
    server.daemon.createSession('telegram', '42', 'd1');
    expect(errorOf(await chat({ sessionId: 'nowhere', text: 'a' }))).toEqual([404, 'session_not_found']);
    expect(errorOf(await chat({ sessionId: 'http:other:default', text: 'a' }))).toEqual([404, 'session_not_found']);
    expect(errorOf(await chat({ sessionId: 'telegram:42:d1', text: 'a' }))).toEqual([409, 'session_read_only']);
    expect(errorOf(await chat({ sessionId: 'a:b', text: 'a' }))).toEqual([400, 'invalid_session_id']);
    expect(errorOf(await chat({ sessionId: 'http:default:%zz', text: 'a' }))).toEqual([400, 'invalid_session_id']);
    expect(server.daemon.received).toHaveLength(0);
  });

  test('a model that cannot be reached is 502 with its code', async () => {
    server.daemon.answer = (run) =>
      run.end({ stopReason: 'model_error', error: { code: 'model_unreachable', message: 'Check the address.' } });
    const answer = await chat({ sessionId: 'default', text: 'hello' });
    expect(answer).toMatchObject({
      status: 502,
      json: {
        error: {
          code: 'model_unreachable',
          message: 'Check the address.',
          details: { sessionId: defaultId, runId: 'run_1' },
        },
      },
    });
  });

  test('a full queue and a stopping daemon are told apart', async () => {
    server.daemon.refusal = new UserError('queue_full', 'Too much waits.', { status: 429 });
    expect(errorOf(await chat({ text: 'a' }))).toEqual([429, 'queue_full']);
    server.daemon.refusal = new UserError('shutting_down', 'Stopping.', { status: 503 });
    expect(errorOf(await chat({ text: 'a' }))).toEqual([503, 'shutting_down']);
    server.daemon.refusal = undefined;
    server.stopChannels();
    await Promise.resolve();
    expect(errorOf(await chat({ text: 'a' }))).toEqual([503, 'shutting_down']);
  });

  test('a turn that the shutdown leaves unfinished is 503, not an error of the model', async () => {
    server.daemon.answer = (run) =>
      run.end({ stopReason: 'model_error', error: { code: 'shutting_down', message: 'Stopping.' } });
    expect(errorOf(await chat({ text: 'a' }))).toEqual([503, 'shutting_down']);
  });

  test('whoever waits when the server closes is told that the message is kept', async () => {
    server.daemon.answer = undefined;
    const answer = chat({ text: 'a' });
    while (server.daemon.received.length === 0) await chat({ text: '' });
    await server.gateway.close(1000);
    expect(errorOf(await answer)).toEqual([503, 'shutting_down']);
  });
});

describe('a message that is sent again', () => {
  test('is answered again without running again', async () => {
    const first = await chat({ sessionId: 'default', messageId: 'm1', text: 'hello' });
    const second = await chat({ sessionId: 'default', messageId: 'm1', text: 'hello' });
    expect(second.json).toEqual(first.json);
    expect(server.daemon.runCount).toBe(1);
  });

  test('waits for the run that goes on, and for one that has not begun', async () => {
    server.daemon.answer = undefined;
    const answers = [chat({ sessionId: 'default', messageId: 'm1', text: 'hello' })];
    while (server.daemon.received.length === 0) await chat({ text: '' });
    answers.push(chat({ sessionId: 'default', messageId: 'm1', text: 'hello' }));
    await call(server, '/api/ping');
    const run = server.daemon.begin(defaultId);
    run.text('half ');
    answers.push(chat({ sessionId: 'default', messageId: 'm1', text: 'hello' }));
    await call(server, '/api/ping');
    run.text('whole');
    run.end();
    for (const answer of await Promise.all(answers))
      expect(answer.json).toMatchObject({ text: 'half whole', runId: 'run_1' });
    expect(server.daemon.runCount).toBe(1);
  });

  test('with another text is refused', async () => {
    await chat({ sessionId: 'default', messageId: 'm1', text: 'hello' });
    expect(errorOf(await chat({ sessionId: 'default', messageId: 'm1', text: 'other' }))).toEqual([
      409,
      'message_id_reused',
    ]);
  });

  test('a lone surrogate in the text is replaced, so that it stays the same when it is sent again', async () => {
    const body = '{"sessionId":"default","messageId":"m1","text":"a\\ud800b"}';
    await call(server, '/api/chat', { body });
    expect(server.daemon.received[0]?.text).toBe('a\ufffdb');
    expect((await call(server, '/api/chat', { body })).status).toBe(200);
  });
});

describe('an answer as events', () => {
  test('streams the run with an id for each event and ends', async () => {
    server.daemon.answer = (run) => {
      run.emit({ type: 'prompt-snapshot', system: 'secret system prompt', tools: [] });
      run.text('one ', 'two');
      run.end();
    };
    const stream = await openStream(server, { sessionId: 'default', messageId: 'm1', text: 'hello' });
    await stream.ended;
    expect(stream.status).toBe(200);
    expect(stream.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(stream.events.map(({ name }) => name)).toEqual([
      'run-start',
      'user-message',
      'text-delta',
      'text-delta',
      'assistant-message',
      'run-end',
    ]);
    expect(textOf(stream.events)).toBe('one two');
    for (const { name, id, data } of stream.events) expect([data.type, data.id]).toEqual([name, id]);
  });

  test('is chosen by `stream` too, and refused with `stream: false`', async () => {
    const streamed = await call(server, '/api/chat', { body: { text: 'a', stream: true } });
    expect(streamed.headers['content-type']).toContain('text/event-stream');
    const headers = { accept: 'text/event-stream' };
    const plain = await call(server, '/api/chat', { body: { text: 'a', stream: false }, headers });
    expect(plain.json.text).toBe('echo: a');
  });

  test('events of other runs and dialogs stay out', async () => {
    server.daemon.answer = undefined;
    const opening = openStream(server, { sessionId: 'default', text: 'mine' });
    const stream = await opening;
    server.daemon.createSession('http', 'default', 'other');
    const other = openStream(server, { sessionId: 'other', text: 'not mine' });
    await other;
    const foreign = server.daemon.begin('http:default:other' as SessionId);
    foreign.text('foreign');
    const run = server.daemon.begin(defaultId);
    run.text('own');
    foreign.end();
    run.end();
    await stream.ended;
    expect(textOf(stream.events)).toBe('own');
    await (await other).ended;
  });

  test('errors before the stream are ordinary answers', async () => {
    server.daemon.refusal = new UserError('queue_full', 'Too much waits.', { status: 429 });
    const answer = await call(server, '/api/chat', { body: { text: 'a', stream: true } });
    expect(errorOf(answer)).toEqual([429, 'queue_full']);
    const wrong = { body: { text: 'a', stream: true }, headers: { 'last-event-id': 'seven' } };
    expect(errorOf(await call(server, '/api/chat', wrong))).toEqual([400, 'invalid_request']);
  });

  test('a failed run ends with its run-end', async () => {
    server.daemon.answer = (run) =>
      run.end({ stopReason: 'model_error', error: { code: 'no_model', message: 'None.' } });
    const stream = await openStream(server, { text: 'a' });
    await stream.ended;
    expect(stream.events.at(-1)).toMatchObject({ name: 'run-end', data: { error: { code: 'no_model' } } });
  });

  test('silence is filled with pings, and only while somebody listens', async () => {
    server.daemon.answer = undefined;
    const stream = await openStream(server, { sessionId: 'default', text: 'a' });
    server.tick(15_000);
    const run = server.daemon.begin(defaultId);
    await stream.until((events) => events.length > 0);
    expect(stream.comments).toEqual([': ping']);
    run.end();
    await stream.ended;
    await call(server, '/api/ping');
    expect(server.activeTimers()).toBe(0);
  });

  test('a client that leaves does not stop the run', async () => {
    server.daemon.answer = undefined;
    const stream = await openStream(server, { sessionId: 'default', messageId: 'm1', text: 'a' });
    const run = server.daemon.begin(defaultId);
    run.text('before ');
    await stream.until((events) => textOf(events) === 'before ');
    stream.drop();
    while (server.activeTimers() > 0) await call(server, '/api/ping');
    expect(run.signal.aborted).toBe(false);
    run.text('after');
    run.end();
    expect((await chat({ sessionId: 'default', messageId: 'm1', text: 'a' })).json.text).toBe('before after');
  });

  test('a reader that stops reading costs no memory and misses nothing', async () => {
    server.daemon.answer = undefined;
    const responses: ServerResponse[] = [];
    const record = (message: unknown) => responses.push((message as { response: ServerResponse }).response);
    diagnostics.subscribe('http.server.request.start', record);
    const stream = await openStream(server, { sessionId: 'default', messageId: 'm1', text: 'a' });
    diagnostics.unsubscribe('http.server.request.start', record);
    stream.pause();
    const run = server.daemon.begin(defaultId);
    const block = 'x'.repeat(4000);
    for (let count = 0; count < 5000; count += 1) {
      run.text(block);
      if (count % 20 === 19) run.step();
      if (count % 1000 === 999) await call(server, '/api/ping');
    }
    // 20 MB were said.
    expect(responses.find((response) => !response.writableEnded)!.writableLength).toBeLessThan(2_000_000);
    run.end();
    stream.resume();
    await stream.ended;
    expect(textOf(stream.events)).toBe(block.repeat(5000));
    expect(stream.events.at(-1)?.name).toBe('run-end');
  });

  test('a reader that takes nothing for a minute is let go', async () => {
    server.daemon.answer = undefined;
    const stream = await openStream(server, { sessionId: 'default', text: 'a' });
    stream.pause();
    const run = server.daemon.begin(defaultId);
    for (let count = 0; count < 4000; count += 1) run.text('x'.repeat(4000));
    for (let minute = 0; minute < 4; minute += 1) server.tick(15_000);
    await call(server, '/api/ping');
    expect(server.activeTimers()).toBe(0);
    stream.drop();
    run.end();
  });

  test('closing the server tells a waiting stream that the message is kept', async () => {
    server.daemon.answer = undefined;
    const stream = await openStream(server, { text: 'a' });
    await server.gateway.close(1000);
    await stream.ended;
    expect(stream.events.at(-1)).toMatchObject({ name: 'error', data: { error: { code: 'shutting_down' } } });
  });
});

describe('stopping', () => {
  test('ends the turn with cancelled', async () => {
    server.daemon.answer = (run) => run.text('so far');
    const answer = chat({ sessionId: 'default', text: 'a' });
    while (server.daemon.runCount === 0) await chat({ text: '' });
    const stopped = await call(server, '/api/chat/stop', { body: { sessionId: 'default' } });
    expect(stopped).toMatchObject({ status: 200, json: { stopped: true, cleared: 0 } });
    expect((await answer).json).toMatchObject({ stopReason: 'cancelled', text: 'so far' });
  });

  test('without a sessionId means the current dialog', async () => {
    server.daemon.answer = (run) => run.text('so far');
    const answer = chat({ text: 'a' });
    while (server.daemon.runCount === 0) await chat({ text: '' });
    expect((await call(server, '/api/chat/stop', { method: 'POST' })).json).toEqual({ stopped: true, cleared: 0 });
    expect((await answer).json.stopReason).toBe('cancelled');
  });

  test('where nothing runs it says so', async () => {
    expect((await call(server, '/api/chat/stop', { method: 'POST' })).json).toEqual({ stopped: false, cleared: 0 });
    expect(errorOf(await call(server, '/api/chat/stop', { body: { sessionId: 'x' } }))).toEqual([
      404,
      'session_not_found',
    ]);
  });
});

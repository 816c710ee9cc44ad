import { createServer } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UserError } from '../../src/protocol/errors.js';
import { call, sendRaw, startServer, type TestServer, token } from './server.js';

let server: TestServer;
beforeEach(async () => {
  server = await startServer({ config: { maxTextBytes: 2000, maxConnections: 5 } });
});
afterEach(() => server.close());

describe('routes', () => {
  test('liveness and readiness need no token and tell no details', async () => {
    expect(await call(server, '/healthz', { token: null })).toMatchObject({ status: 200, json: { status: 'ok' } });
    const ready = await call(server, '/readyz', { token: null });
    expect(ready).toMatchObject({
      status: 200,
      json: { status: 'ready', channels: [{ id: 'http', state: 'running' }] },
    });
    expect(ready.text).not.toContain('secret');
  });

  test('is not ready while it starts and while it stops', async () => {
    for (const state of ['starting', 'draining'] as const) {
      server.status.state = state;
      expect(await call(server, '/readyz')).toMatchObject({ status: 503, json: { status: state } });
    }
  });

  test('liveness answers under any host name', async () => {
    expect((await call(server, '/healthz', { headers: { host: '10.1.2.3' } })).status).toBe(200);
  });

  test('serves metrics as Prometheus text', async () => {
    const answer = await call(server, '/metrics');
    expect(answer.text).toBe('picobot_up 1\n');
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  test('tells ping, status, models and the masked configuration', async () => {
    expect((await call(server, '/api/ping')).json).toEqual({ status: 'ready', version: '1.2.3' });
    expect((await call(server, '/api/status')).json).toMatchObject({ model: 'fake/model' });
    expect((await call(server, '/api/models')).json).toEqual({ items: [{ id: 'fake/model', name: 'Fake' }] });
    expect((await call(server, '/api/config')).json).toMatchObject({ gateway: { token: '••••' } });
    expect(server.daemon.runCount).toBe(0);
  });

  test('answers are neither cached nor sniffed', async () => {
    const { headers } = await call(server, '/api/status');
    expect([headers['cache-control'], headers['x-content-type-options']]).toEqual(['no-store', 'nosniff']);
  });

  test('an unknown route is 404 in JSON', async () => {
    for (const [method, path] of [
      ['GET', '/api/nothing'],
      ['POST', '/api/status'],
      ['DELETE', '/'],
      ['GET', '/no-such-file.txt'],
    ] as const) {
      const answer = await call(server, path, { method });
      expect([answer.status, answer.json?.error?.code], path).toEqual([404, 'not_found']);
    }
  });

  test('a handler that fails is 500, is logged, and the process goes on', async () => {
    const broken = await startServer({ listen: false });
    broken.gateway.host.routes.get('/api/broken', () => {
      throw new Error('inner detail');
    });
    const { port } = await broken.gateway.listen();
    const answer = await call({ port }, '/api/broken');
    expect(answer).toMatchObject({ status: 500, json: { error: { code: 'internal_error' } } });
    expect(answer.text).not.toContain('inner detail');
    expect(broken.logged.join()).toContain('inner detail');
    expect((await call({ port }, '/api/status')).status).toBe(200);
    await broken.close();
  });

  test('webhooks are open, with their raw body, and only under plain paths', async () => {
    const open = await startServer({ listen: false });
    open.gateway.host.routes.post('/webhooks/slack', async (c) => c.text(`${c.env.body.length} ${await c.req.text()}`));
    const { port } = await open.gateway.listen();
    const answer = await call({ port }, '/webhooks/slack', {
      token: null,
      body: 'a=1',
      headers: { host: 'hooks.example' },
    });
    expect([answer.status, answer.text]).toEqual([200, '3 a=1']);
    await open.close();
  });
});

describe('dialogs', () => {
  test('are created, listed, read, changed and deleted', async () => {
    const created = await call(server, '/api/sessions', {
      body: { channel: 'websocket', chatId: 'web', title: 'One' },
    });
    expect(created).toMatchObject({ status: 201, json: { title: 'One', channel: 'websocket' } });
    const path = `/api/sessions/${encodeURIComponent(created.json.id)}`;
    expect((await call(server, '/api/sessions?channel=websocket&limit=5')).json.items).toHaveLength(1);
    expect((await call(server, '/api/sessions?channel=http')).json).toEqual({ items: [] });
    expect((await call(server, path)).json.id).toBe(created.json.id);
    const changed = await call(server, path, { method: 'PATCH', body: { title: 'Two', archived: true } });
    expect(changed.json).toMatchObject({ title: 'Two', archived: true });
    expect((await call(server, '/api/sessions?archived=true')).json.items).toHaveLength(1);
    expect((await call(server, path, { method: 'DELETE' })).status).toBe(204);
    expect(await call(server, path)).toMatchObject({ status: 404, json: { error: { code: 'session_not_found' } } });
  });

  test('are created without a body in the chat of this door', async () => {
    expect((await call(server, '/api/sessions', { method: 'POST' })).json).toMatchObject({
      channel: 'http',
      chatId: 'default',
    });
  });

  test('ids with escapes and other scripts arrive as they are', async () => {
    const { id } = server.daemon.createSession('telegram', 'a:b%', '对话 1');
    expect((await call(server, `/api/sessions/${encodeURIComponent(id)}`)).json.id).toBe(id);
    const answer = await call(server, `/api/sessions/${encodeURIComponent('not an id')}`);
    expect([answer.status, answer.json.error.code]).toEqual([400, 'invalid_session_id']);
  });

  test('messages and events come in pages', async () => {
    await call(server, '/api/chat', { body: { sessionId: 'default', text: 'one' } });
    await call(server, '/api/chat', { body: { sessionId: 'default', text: 'two' } });
    const path = '/api/sessions/http:default:default';
    const all = (await call(server, `${path}/messages`)).json;
    expect(all.items.map((message: { text: string }) => message.text)).toEqual([
      'one',
      'echo: one',
      'two',
      'echo: two',
    ]);
    expect(all.nextCursor).toBeUndefined();
    const newest = (await call(server, `${path}/messages?limit=1`)).json;
    expect(newest.nextCursor).toBe(String(newest.items[0].id));
    const events = (await call(server, `${path}/events?limit=2`)).json;
    expect(events.items[0].type).toBe('run-start');
    const rest = (await call(server, `${path}/events?after=${events.nextCursor}`)).json;
    expect(rest.items.at(-1).type).toBe('run-end');
    expect(rest.nextCursor).toBeUndefined();
  });

  test('are exported as Markdown and JSON', async () => {
    server.daemon.createSession('http', 'default', 'd1');
    const markdown = await call(server, '/api/sessions/http:default:d1/export');
    expect(markdown.headers['content-type']).toBe('text/markdown; charset=utf-8');
    expect((await call(server, '/api/sessions/http:default:d1/export?format=json')).json).toEqual({
      title: 'New chat',
    });
  });

  test('wrong queries and bodies are named with their paths', async () => {
    for (const [path, options, wrong] of [
      ['/api/sessions?limit=0', {}, 'limit'],
      ['/api/sessions?limit=ten', {}, 'limit'],
      ['/api/sessions?archived=maybe', {}, 'archived'],
      ['/api/sessions/http:a:b/events?after=-1', {}, 'after'],
      ['/api/sessions', { body: { title: 5 } }, 'title'],
      ['/api/sessions/http:a:b', { method: 'PATCH', body: {} }, ''],
    ] as const) {
      const answer = await call(server, path, options);
      expect([answer.status, answer.json.error.code], path).toEqual([400, 'invalid_request']);
      expect(answer.json.error.details[0].path, path).toBe(wrong);
    }
  });
});

describe('bad input', () => {
  const chat = async (body: string | Buffer) => {
    const answer = await call(server, '/api/chat', { body });
    return [answer.status, answer.json?.error?.code];
  };

  test('malformed JSON, wrong encodings, wrong shapes and deep nesting each have their code', async () => {
    expect(await chat('{"text": ')).toEqual([400, 'invalid_json']);
    expect(await chat('')).toEqual([400, 'invalid_json']);
    expect(await chat(Buffer.from([0x7b, 0xff, 0xfe, 0x7d]))).toEqual([400, 'invalid_utf8']);
    expect(await chat('[1]')).toEqual([400, 'invalid_request']);
    expect(await chat('{"text":"   "}')).toEqual([400, 'invalid_request']);
    expect(await chat('{"text":"x","messageId":""}')).toEqual([400, 'invalid_request']);
    expect(await chat('{"text":"x","attachments":[{}]}')).toEqual([400, 'invalid_request']);
    expect(await chat(`${'['.repeat(100)}${']'.repeat(100)}`)).toEqual([400, 'json_too_deep']);
    expect(await chat(`{"text":"${'['.repeat(100)}"}`)).toEqual([200, undefined]);
    expect(server.daemon.received).toHaveLength(1);
  });

  test('a body over the limit is refused, declared or not', async () => {
    expect(await chat(JSON.stringify({ text: 'x'.repeat(3000) }))).toEqual([413, 'body_too_large']);
    const chunk = 'x'.repeat(1500);
    const head = `POST /api/chat HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n`;
    const chunked = `Transfer-Encoding: chunked\r\n\r\n${`5dc\r\n${chunk}\r\n`.repeat(2)}0\r\n\r\n`;
    expect(await sendRaw(server, head + chunked)).toMatch(/^HTTP\/1\.1 413 [\s\S]*body_too_large/);
  });

  test('a client that asks before it sends a large body hears the answer first', async () => {
    const head = (size: number) =>
      `POST /api/chat HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\nContent-Length: ${size}\r\nExpect: 100-continue\r\n\r\n`;
    expect(await sendRaw(server, `${head(13)}{"text":"hi"}`)).toMatch(
      /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /,
    );
    expect(await sendRaw(server, `${head(5000)}${'x'.repeat(5000)}`)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('a client that stops in the middle of its body harms nobody', async () => {
    const socket = connect(server.port, '127.0.0.1');
    await new Promise((resolve) => socket.on('connect', resolve));
    socket.write(
      `POST /api/chat HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: 100\r\n\r\n{"te`,
    );
    socket.destroy();
    expect((await call(server, '/api/chat', { body: { text: 'still there?' } })).json.text).toBe('echo: still there?');
    expect(server.daemon.received).toHaveLength(1);
  });

  test('bytes that are not HTTP get a clear refusal', async () => {
    expect(await sendRaw(server, 'hello there\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 [\s\S]*bad_request/);
    const long = `GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`;
    expect(await sendRaw(server, long)).toMatch(/^HTTP\/1\.1 431 [\s\S]*headers_too_large/);
    const target = `GET /api/\\..\\x HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`;
    expect(await sendRaw(server, target)).toMatch(/^HTTP\/1\.1 400 [\s\S]*bad_request/);
  });

  test('more connections than allowed get an answer that says so, the others go on', async () => {
    const open = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const socket = connect(server.port, '127.0.0.1');
        await new Promise((resolve) => socket.on('connect', resolve));
        return socket;
      }),
    );
    const refused = await call(server, '/api/ping');
    expect([refused.status, refused.json.error.code]).toEqual([503, 'too_many_connections']);
    const answered = new Promise<string>((resolve) => open[0]!.once('data', (data) => resolve(data.toString())));
    open[1]!.destroy();
    await new Promise((resolve) => open[1]!.on('close', resolve));
    open[0]!.write(`GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expect(await answered).toMatch(/^HTTP\/1\.1 200 /);
    for (const socket of open) socket.destroy();
  });

  test('an upgrade to something else, or on another path, is refused', async () => {
    const upgrade = (path: string, protocol: string) =>
      sendRaw(
        server,
        `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`,
      );
    expect(await upgrade('/ws', 'h2c')).toMatch(/^HTTP\/1\.1 400 [\s\S]*unsupported_upgrade/);
    expect(await upgrade('/elsewhere', 'websocket')).toMatch(/^HTTP\/1\.1 404 [\s\S]*not_found/);
  });
});

describe('starting and stopping', () => {
  test('a port in use is named with what to do', async () => {
    const second = await startServer({ config: { port: server.port }, listen: false });
    const error = await second.gateway.listen().catch((error: unknown) => error);
    expect(error).toBeInstanceOf(UserError);
    expect(error).toMatchObject({ code: 'port_in_use', message: expect.stringContaining(`127.0.0.1:${server.port}`) });
    expect((error as Error).message).toContain('gateway.port');
  });

  test('an address that is not of this machine is named', async () => {
    const other = await startServer({ config: { host: '192.0.2.1' }, listen: false });
    await expect(other.gateway.listen()).rejects.toMatchObject({ code: 'host_not_available' });
  });

  test('others may reach it only with a strong token', async () => {
    const weak = await startServer({ config: { host: '0.0.0.0' }, token: 'short', listen: false });
    await expect(weak.gateway.listen()).rejects.toMatchObject({ code: 'weak_token' });
    const local = await startServer({ token: 'short' });
    await local.close();
  });

  test('prints an address that can be clicked', async () => {
    const open = await startServer({ config: { host: '0.0.0.0' } });
    expect(open.url).toBe(`http://127.0.0.1:${open.port}`);
    await open.close();
  });

  test('closing ends idle connections at once and busy ones at the deadline', async () => {
    const idle = connect(server.port, '127.0.0.1');
    const busy = connect(server.port, '127.0.0.1');
    await Promise.all([idle, busy].map((socket) => new Promise((resolve) => socket.on('connect', resolve))));
    const ended = [idle, busy].map((socket) => new Promise((resolve) => socket.on('close', resolve).resume()));
    busy.on('error', () => {});
    busy.write('POST /api/chat HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n');
    await server.gateway.close(50);
    await Promise.all(ended);
    await expect(call(server, '/healthz')).rejects.toThrow();
  });

  test('leaves the global Request and Response alone', async () => {
    const before = [globalThis.Request, globalThis.Response];
    await call(server, '/api/status');
    expect([globalThis.Request, globalThis.Response]).toEqual(before);
  });

  test('a second close and a close before listening do nothing', async () => {
    await server.gateway.close(10);
    await server.gateway.close(10);
    const never = await startServer({ listen: false });
    await never.gateway.close(10);
  });
});

test('a port of another program is named too', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  const refused = await startServer({ config: { port }, listen: false });
  await expect(refused.gateway.listen()).rejects.toMatchObject({ code: 'port_in_use' });
  await new Promise((resolve) => other.close(resolve));
});

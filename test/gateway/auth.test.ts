import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type CallOptions, call, startServer, type TestServer, token } from './server.js';

/** How an upgrade ends: `open`, or the HTTP status of its refusal. */
function upgrade(
  server: TestServer,
  options: { token?: string; origin?: string; host?: string; cookie?: string; query?: string } = {},
): Promise<number | 'open'> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/ws${options.query ?? ''}`, {
      headers: {
        ...(options.token !== undefined && { authorization: `Bearer ${options.token}` }),
        ...(options.origin !== undefined && { origin: options.origin }),
        ...(options.host !== undefined && { host: options.host }),
        ...(options.cookie !== undefined && { cookie: options.cookie }),
      },
    });
    socket.on('open', () => {
      socket.terminate();
      resolve('open');
    });
    socket.on('unexpected-response', (request, response) => {
      request.destroy();
      resolve(response.statusCode ?? 0);
    });
    socket.on('error', reject);
  });
}

describe('who may enter', () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startServer({
      config: { allowedOrigins: ['https://chat.example.org'], allowedHosts: ['bot.example.org'] },
    });
  });
  afterEach(() => server.close());

  const http = async (options: CallOptions) => {
    const answer = await call(server, '/api/status', options);
    return [answer.status, answer.json?.error?.code];
  };

  test('no token is refused, from loopback too', async () => {
    expect(await http({ token: null })).toEqual([401, 'unauthorized']);
    expect(await upgrade(server)).toBe(401);
  });

  test('a foreign origin is refused without and with a valid token', async () => {
    const origin = 'https://evil.example';
    expect(await http({ token: null, headers: { origin } })).toEqual([403, 'origin_refused']);
    expect(await http({ headers: { origin } })).toEqual([403, 'origin_refused']);
    expect(await http({ headers: { origin: 'null' } })).toEqual([403, 'origin_refused']);
    expect(await upgrade(server, { origin })).toBe(403);
    expect(await upgrade(server, { origin, token })).toBe(403);
  });

  test('an allowed foreign origin works with a valid token and gets the headers that its browser asks for', async () => {
    const origin = 'https://chat.example.org';
    expect(await upgrade(server, { origin, token })).toBe('open');
    expect(await upgrade(server, { origin })).toBe(401);
    const preflight = await call(server, '/api/chat', { method: 'OPTIONS', token: null, headers: { origin } });
    expect(preflight.status).toBe(204);
    expect(preflight.headers['access-control-allow-origin']).toBe(origin);
    expect(preflight.headers['access-control-allow-headers']).toContain('Authorization');
    const answer = await call(server, '/api/status', { headers: { origin } });
    expect(answer.status).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBe(origin);
  });

  test('a preflight of a foreign origin is refused', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    const answer = await call(server, '/api/chat', { method: 'OPTIONS', token: null, headers });
    expect(answer.status).toBe(403);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  test('no origin, or the own one, works with a valid token', async () => {
    const origin = `http://127.0.0.1:${server.port}`;
    expect(await http({})).toEqual([200, undefined]);
    expect(await http({ headers: { origin } })).toEqual([200, undefined]);
    expect(await upgrade(server, { token })).toBe('open');
    expect(await upgrade(server, { token, origin })).toBe('open');
  });

  test('the same host on another port is a foreign origin', async () => {
    expect(await http({ headers: { origin: `http://127.0.0.1:${server.port + 1}` } })).toEqual([403, 'origin_refused']);
  });

  test('a request that a browser sends for another site without naming it is refused', async () => {
    for (const site of ['cross-site', 'same-site']) {
      expect(await http({ headers: { 'sec-fetch-site': site } })).toEqual([403, 'origin_refused']);
    }
    expect(await http({ headers: { 'sec-fetch-site': 'same-origin' } })).toEqual([200, undefined]);
  });

  test('a foreign Host header is refused, known names are not', async () => {
    expect(await http({ headers: { host: 'evil.example' } })).toEqual([403, 'host_refused']);
    expect(await http({ headers: { host: '192.0.2.7:18880' } })).toEqual([403, 'host_refused']);
    expect(await http({ headers: { host: 'localhost.evil.example' } })).toEqual([403, 'host_refused']);
    expect(await upgrade(server, { token, host: 'evil.example' })).toBe(403);
    for (const host of [
      'localhost',
      'LOCALHOST:1',
      '127.0.0.1',
      '[::1]:18880',
      'bot.example.org',
      'bot.example.org.',
    ]) {
      expect(await http({ headers: { host } }), host).toEqual([200, undefined]);
    }
    const page = await call(server, '/', { token: null, headers: { host: 'evil.example' } });
    expect(page.status).toBe(403);
  });

  test('ten wrong tokens from one address shut it out for a minute', async () => {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const answer = attempt % 2 ? await upgrade(server, { token: 'wrong' }) : (await http({ token: 'wrong' }))[0];
      expect(answer).toBe(401);
    }
    const blocked = await call(server, '/api/status', { token: 'wrong' });
    expect([blocked.status, blocked.json.error.code]).toEqual([429, 'too_many_attempts']);
    expect(blocked.headers['retry-after']).toBe('60');
    expect(await upgrade(server, { token })).toBe(429);
    expect(await http({ token: null })).toEqual([401, 'unauthorized']);
    server.clock.now += 60_000;
    expect(await upgrade(server, { token })).toBe('open');
  });

  test('wrong tokens spread over more than a minute do not shut out', async () => {
    for (let attempt = 0; attempt < 12; attempt += 1) {
      await http({ token: 'wrong' });
      server.clock.now += 7000;
    }
    expect(await http({})).toEqual([200, undefined]);
  });

  test('a browser with an old cookie does not shut out the machine, guessing with cookies does', async () => {
    for (let attempt = 0; attempt < 15; attempt += 1) {
      expect(await upgrade(server, { cookie: 'picobot_token=old' })).toBe(401);
    }
    expect(await http({})).toEqual([200, undefined]);
    for (let attempt = 0; attempt < 10; attempt += 1)
      await upgrade(server, { cookie: `picobot_token=guess${attempt}` });
    expect(await http({})).toEqual([429, 'too_many_attempts']);
  });

  test('a foreign page cannot shut out the machine', async () => {
    for (let attempt = 0; attempt < 15; attempt += 1) {
      await http({ token: 'wrong', headers: { origin: 'https://evil.example' } });
      await http({ token: 'wrong', headers: { 'sec-fetch-site': 'cross-site' } });
    }
    expect(await http({})).toEqual([200, undefined]);
  });

  test('the printed link sets a cookie that opens HTTP and WebSocket', async () => {
    const link = await call(server, `/?token=${token}`, { token: null });
    expect([link.status, link.headers.location]).toEqual([302, '/']);
    const cookie = link.headers['set-cookie']?.[0] ?? '';
    for (const mark of ['HttpOnly', 'SameSite=Strict', 'Path=/']) expect(cookie).toContain(mark);
    const pair = cookie.split(';')[0]!;
    expect(await http({ token: null, headers: { cookie: `other=1; ${pair}` } })).toEqual([200, undefined]);
    expect(await upgrade(server, { cookie: pair })).toBe('open');
  });

  test('a link with a wrong token says so and sets nothing', async () => {
    const link = await call(server, '/?token=wrong', { token: null });
    expect(link.status).toBe(401);
    expect(link.headers['content-type']).toContain('text/plain');
    expect(link.headers['set-cookie']).toBeUndefined();
  });

  test('a token in the query opens the WebSocket and no HTTP route', async () => {
    expect(await upgrade(server, { query: `?token=${token}` })).toBe('open');
    expect(await upgrade(server, { query: '?token=wrong' })).toBe(401);
    expect((await call(server, `/api/status?token=${token}`, { token: null })).status).toBe(401);
  });

  test('paths that only look open are closed', async () => {
    const paths = [
      '/%61pi/status',
      '//api/status',
      '/./api/status',
      '/webhooks/../api/status',
      '/webhooks/%2e%2e/api/status',
      '/webhooks/..%2fapi/status',
      '/healthz/../api/status',
      '/API/status',
      `http://127.0.0.1:${server.port}/api/status`,
      '/metrics',
      '/v1/models',
      '/api/unknown',
      '/ws',
    ];
    for (const path of paths) expect((await call(server, path, { token: null })).status, path).toBe(401);
  });

  test('refusals and uses leave no token in the log', async () => {
    await upgrade(server, { query: `?token=${token}` });
    await call(server, `/?token=${token}`, { token: null });
    await http({ token: 'wrong-but-secret' });
    await call(server, `/nowhere?token=${token}`);
    expect(server.logged.join('\n')).not.toMatch(/a-token-of-the-tests|wrong-but-secret/);
  });
});

test('bound to every address, the one that a request came to is a known host', async () => {
  const server = await startServer({ config: { host: '0.0.0.0' } });
  const status = async (host: string) => (await call(server, '/api/status', { headers: { host } })).status;
  expect(await status('127.0.0.1')).toBe(200);
  expect(await status('192.0.2.1')).toBe(403);
  await server.close();
});

test('an empty token opens nothing', async () => {
  const server = await startServer({ token: '' });
  expect((await call(server, '/api/status', { headers: { authorization: 'Bearer ' }, token: null })).status).toBe(401);
  await server.close();
});

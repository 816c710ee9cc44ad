import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createHttpFetch } from '../../src/providers/http-fetch.js';
import type { WireRequest, WireResponse } from '../../src/providers/wire-types.js';

const request = (change: Partial<WireRequest> = {}): WireRequest => ({
  method: 'POST',
  headers: { 'content-type': 'text/plain' },
  body: 'hällo',
  signal: new AbortController().signal,
  ...change,
});

async function withServer(handler: http.RequestListener, work: (url: string, server: http.Server) => Promise<void>) {
  const server = http.createServer(handler).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}/x?y=1`, server);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

async function textOf(response: WireResponse): Promise<string> {
  const reader = response.body!.getReader();
  const chunks: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks).toString();
    chunks.push(value!);
  }
}

test('sends body and headers, gives status, headers and body', async () => {
  await withServer(
    (incoming, response) => {
      let body = '';
      incoming.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk;
      });
      incoming.on('end', () =>
        response
          .writeHead(201, { 'X-Seen': incoming.headers['content-type'] })
          .end(`${incoming.method} ${incoming.url} ${body}`),
      );
    },
    async (url) => {
      const response = await createHttpFetch()(url, request());
      expect(response.status).toBe(201);
      expect(response.headers.get('x-seen')).toBe('text/plain');
      expect(response.headers.get('absent')).toBeNull();
      expect(await textOf(response)).toBe('POST /x?y=1 hällo');
    },
  );
});

test('uses a connection again', async () => {
  let connections = 0;
  await withServer(
    (incoming, response) => incoming.resume().on('end', () => response.end('ok')),
    async (url, server) => {
      server.on('connection', () => connections++);
      const fetch = createHttpFetch();
      for (let count = 0; count < 3; count++) expect(await textOf(await fetch(url, request()))).toBe('ok');
      expect(connections).toBe(1);
    },
  );
});

test('sends once more when a kept connection was closed under its hands', async () => {
  let served = 0;
  await withServer(
    (incoming, response) => {
      incoming.resume().on('end', () => {
        served++;
        // The second request meets a server that drops the connection without an answer.
        if (served === 2) incoming.socket.destroy();
        else response.end('ok');
      });
    },
    async (url) => {
      const fetch = createHttpFetch();
      expect(await textOf(await fetch(url, request()))).toBe('ok');
      expect(await textOf(await fetch(url, request()))).toBe('ok');
      expect(served).toBe(3);
    },
  );
});

test('does not send again what failed on a new connection', async () => {
  let served = 0;
  await withServer(
    (incoming) => {
      served++;
      incoming.socket.destroy();
    },
    async (url) => {
      await expect(createHttpFetch()(url, request())).rejects.toMatchObject({ code: 'ECONNRESET' });
      expect(served).toBe(1);
    },
  );
});

test('a slow reader gets all, and the server is held back meanwhile', async () => {
  const size = 64 * 1024 * 1024;
  let isSent = false;
  await withServer(
    (incoming, response) => {
      response.once('finish', () => {
        isSent = true;
      });
      incoming.resume().on('end', () => response.end(Buffer.alloc(size, 'x')));
    },
    async (url) => {
      const reader = (await createHttpFetch()(url, request())).body!.getReader();
      for (let round = 0; round < 2000; round++) await new Promise((resolve) => setImmediate(resolve));
      expect(isSent).toBe(false);
      let received = 0;
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        received += value!.length;
      }
      expect(received).toBe(size);
    },
  );
});

test('an aborted signal sends nothing', async () => {
  await expect(
    createHttpFetch()('http://127.0.0.1:9/', request({ signal: AbortSignal.abort('x') })),
  ).rejects.toMatchObject({
    name: 'AbortError',
  });
});

test('a host that does not answer the connection is given up', async () => {
  // 192.0.2.0/24 is reserved for documentation: no route leads there, or nobody answers.
  const call = createHttpFetch({ connectTimeoutMs: 30 })('http://192.0.2.1/', request());
  await expect(call).rejects.toMatchObject({
    code: expect.stringMatching(/CONNECT_TIMEOUT|ENETUNREACH|EHOSTUNREACH|ECONNREFUSED/),
  });
});

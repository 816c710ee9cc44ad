import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, sendRaw, startServer, type TestServer } from './server.js';

describe('the page', () => {
  let server: TestServer;
  let folder: string;
  const get = (path: string, headers = {}) => call(server, path, { token: null, headers });

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'picobot-page-'));
    const page = join(folder, 'page');
    mkdirSync(join(page, 'assets'), { recursive: true });
    writeFileSync(join(page, 'index.html'), '<!doctype html><title>Page</title>');
    writeFileSync(join(page, 'assets', 'main-Bd8fK2_x.js'), 'export {};');
    writeFileSync(join(page, 'favicon.svg'), '<svg/>');
    writeFileSync(join(page, 'empty.txt'), '');
    writeFileSync(join(page, '.hidden'), 'hidden');
    writeFileSync(join(folder, 'secret.txt'), 'secret');
    server = await startServer({ pageDir: page });
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  test('is served without a token and asked for anew each time', async () => {
    const index = await get('/');
    expect([index.status, index.text]).toEqual([200, '<!doctype html><title>Page</title>']);
    expect(index.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(index.headers['cache-control']).toBe('no-cache');
    expect((await get('/', { 'if-none-match': index.headers.etag })).status).toBe(304);
    expect((await get('/index.html')).status).toBe(200);
  });

  test('forbids inline scripts and frames, and allows its own socket', async () => {
    const { headers } = await get('/');
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain('unsafe');
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain(`ws://127.0.0.1:${server.port}`);
    expect(headers['referrer-policy']).toBe('no-referrer');
  });

  test('hashed files are kept for ever, others are checked', async () => {
    const script = await get('/assets/main-Bd8fK2_x.js');
    expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(script.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const icon = await get('/favicon.svg');
    expect([icon.headers['content-type'], icon.headers['cache-control']]).toEqual(['image/svg+xml', 'no-cache']);
    expect((await get('/empty.txt')).status).toBe(200);
  });

  test('answers HEAD without a body', async () => {
    const head = await call(server, '/', { method: 'HEAD', token: null });
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', '34']);
  });

  test('nothing outside its folder and nothing hidden is served', async () => {
    const paths = [
      '/../secret.txt',
      '/assets/../../secret.txt',
      '/%2e%2e/secret.txt',
      '/..%2fsecret.txt',
      '/assets/..\\..\\secret.txt',
      '//secret.txt',
      '/.hidden',
      '/assets',
      '/assets/',
      '/index.html/',
      '/index.html%00',
    ];
    for (const path of paths) {
      const raw = await sendRaw(server, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      expect(raw, path).toMatch(/^HTTP\/1\.1 40[014]/);
    }
  });
});

test('without a built page it says how to get one', async () => {
  const server = await startServer({ pageDir: '/nonexistent-page' });
  const answer = await call(server, '/', { token: null });
  expect(answer.status).toBe(200);
  expect(answer.text).toContain('npm run build');
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
  await server.close();
});

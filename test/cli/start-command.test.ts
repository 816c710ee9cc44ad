import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { useTemporaryHome } from '../config/temporary-home.js';

const home = useTemporaryHome();
const program = join(import.meta.dirname, '../../bin/picobot.mjs');
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

interface Run {
  child: ChildProcess;
  /** Resolves with everything printed so far once it holds `text`. */
  said(text: string): Promise<string>;
  ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
}

function start(env: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, [program, 'start'], {
    env: { PATH: process.env.PATH, PICOBOT_PORT: '0', ...home.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let stdout = '';
  let stderr = '';
  const listeners = new Set<() => void>();
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
    for (const listener of listeners) listener();
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
  const said = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        if (stdout.includes(text)) resolve(stdout);
      };
      listeners.add(look);
      look();
      void ended.then(() => reject(new Error(`it ended without saying ${text}: ${stdout}${stderr}`)));
    });
  return { child, said, ended };
}

const linkIn = (banner: string) => /http:\/\/\S+/.exec(banner)![0];

test('a first start makes the home, says where to click, what answers and what to do next, and stops in order', async () => {
  rmSync(home.paths.home, { recursive: true });
  const run = start();
  const banner = await run.said('Ctrl+C');
  const token = readFileSync(home.paths.tokenFile, 'utf8').trim();
  expect(banner).toMatch(new RegExp(`open +http://127\\.0\\.0\\.1:\\d+/\\?token=${token}\\n`));
  expect(banner).toMatch(/model +demo/);
  expect(banner).toMatch(/channels +http, websocket/);
  for (const path of [home.paths.home, home.paths.workspace, home.paths.logFile, home.paths.envFile])
    expect(banner).toContain(path);
  expect(statSync(home.paths.home).mode & 0o777).toBe(0o700);
  expect(existsSync(join(home.paths.workspace, 'picobot.db'))).toBe(true);

  const entry = await fetch(linkIn(banner), { redirect: 'manual' });
  expect(entry.headers.get('set-cookie')).toContain('HttpOnly');

  run.child.kill('SIGTERM');
  expect(await run.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('Stopped.') });
  const log = readFileSync(home.paths.logFile, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(log.map((line) => line.msg)).toEqual(
    expect.arrayContaining(['daemon start', 'daemon stopping', 'daemon stop']),
  );
  expect(JSON.stringify(log)).not.toContain(token);
});

test('Chinese is spoken where the locale is', async () => {
  const run = start({ LANG: 'zh_CN.UTF-8' });
  expect(await run.said('停止')).toContain('PicoBot 已启动');
});

test('PicoBot runs from any folder and with a relative home', async () => {
  const run = start({ PICOBOT_HOME: 'relative home' });
  onTestFinished(() => rmSync('relative home', { recursive: true, force: true }));
  expect(await run.said('Ctrl+C')).toContain(join(process.cwd(), 'relative home', 'workspace'));
});

test('the first signal lets a running turn go on, the second ends at once with 1', async () => {
  const silent = createServer();
  const asked = once(silent, 'request');
  silent.listen(0, '127.0.0.1');
  onTestFinished(() => {
    silent.closeAllConnections();
    silent.close();
  });
  await once(silent, 'listening');
  const baseUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`;
  home.write({
    agent: { model: 'silent/one' },
    platforms: { silent: { protocol: 'openai', baseUrl, apiKey: 'none' } },
  });
  const run = start({ PICOBOT_TOKEN: 'token-of-this-test' });
  const url = new URL(linkIn(await run.said('Ctrl+C')));
  const turn = fetch(new URL('/api/chat', url), {
    method: 'POST',
    headers: { authorization: 'Bearer token-of-this-test', 'content-type': 'application/json' },
    body: '{"text":"hello"}',
  }).catch(() => undefined);
  await asked;
  run.child.kill('SIGINT');
  await run.said('running turns get 10 s');
  run.child.kill('SIGINT');
  expect(await run.ended).toMatchObject({ code: 1, stdout: expect.not.stringContaining('Stopped.') });
  await turn;
});

test('a port that is taken is one clear line, and the daemon that has it goes on', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void taken.close());
  await once(taken, 'listening');
  const { code, stdout, stderr } = await start({ PICOBOT_PORT: String((taken.address() as AddressInfo).port) }).ended;
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^error: .* \(port_in_use\)$/m);
  expect(stderr).not.toContain('    at ');
});

test('a second daemon on the same workspace is refused with the process that has it', async () => {
  const first = start();
  await first.said('Ctrl+C');
  const second = await start().ended;
  expect(second).toMatchObject({ code: 1, stderr: expect.stringMatching(/error: .*\(workspace_in_use\)/) });
  expect(second.stderr).toContain(String(first.child.pid));
});

test('a home that cannot be made is one clear line', async () => {
  writeFileSync(join(home.folder, 'file'), '');
  const { code, stderr } = await start({ PICOBOT_HOME: join(home.folder, 'file', 'home') }).ended;
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^error: .*\(\w+\)\n$/) });
});

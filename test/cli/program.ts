/** The built program as a user starts it: a daemon with a home of its own, commands, and a pseudo-terminal. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { until } from '../client/ground.js';
import { tempDir } from '../temp-dir.js';
import { VisibleScreen } from './visible-screen.js';

const programFile = fileURLToPath(new URL('../../bin/picobot.mjs', import.meta.url));

/** The first command of a fresh clone builds what the others run. */
export function buildProgram(): void {
  const { status, stderr } = spawnSync(process.execPath, [programFile, '--version'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the program cannot be built:\n${stderr}`);
}

export interface Home {
  folder: string;
  port: number;
  env: Record<string, string>;
}

/** `config`: beside the port. */
export async function createHome(config: Record<string, unknown> = {}): Promise<Home> {
  const folder = join(tempDir(), 'home');
  const port = await freePort();
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ gateway: { port }, ...config }), { mode: 0o600 });
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    PICOBOT_HOME: folder,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
  };
  return { folder, port, env };
}

export interface RunningDaemon {
  kill(signal: NodeJS.Signals): Promise<void>;
}

export async function startProgram(home: Home): Promise<RunningDaemon> {
  const child = spawn(process.execPath, [programFile, 'start'], { env: home.env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
  onTestFinished(() => end(child, 'SIGKILL'));
  await until(() => output.includes('is running') || child.exitCode !== null, 'the start of the daemon', 60_000);
  if (child.exitCode !== null) throw new Error(`the daemon did not start:\n${output}`);
  return { kill: (signal) => end(child, signal) };
}

export interface Finished {
  code: number | null;
  out: string;
  err: string;
}

export interface Command {
  readonly finished: Promise<Finished>;
  readonly out: string;
  readonly child: ChildProcess;
}

/** `input`: what comes through the pipe; null: it is left open. */
export function runProgram(home: Home, args: string[], input: string | null = ''): Command {
  const child = spawn(process.execPath, [programFile, ...args], { env: home.env });
  let out = '';
  let err = '';
  child.stdout.on('data', (data: Buffer) => (out += data.toString()));
  child.stderr.on('data', (data: Buffer) => (err += data.toString()));
  child.stdin.on('error', () => {});
  if (input !== null) child.stdin.end(input);
  onTestFinished(() => end(child, 'SIGKILL'));
  return {
    child,
    get out() {
      return out;
    },
    finished: once(child, 'close').then(() => ({ code: child.exitCode, out, err })),
  };
}

/** `script` of util-linux gives a program a terminal. */
export const hasScript = /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '');

export interface Terminal {
  screen: VisibleScreen;
  type(text: string): void;
  shows(text: string | RegExp): Promise<void>;
  /** Of the program. */
  exitCode: Promise<number | null>;
}

export function openTerminal(home: Home, args: string[], { columns = 80 } = {}): Terminal {
  const words = [process.execPath, programFile, ...args].map((word) => `'${word}'`).join(' ');
  const command = `stty cols ${columns} rows 24; exec ${words}`;
  const child = spawn('script', ['-qfec', command, '/dev/null'], { env: home.env });
  const screen = new VisibleScreen(columns);
  const decoder = new TextDecoder();
  child.stdout.on('data', (data: Buffer) => screen.write(decoder.decode(data, { stream: true })));
  child.stdin.on('error', () => {});
  onTestFinished(() => end(child, 'SIGKILL'));
  return {
    screen,
    type: (text) => child.stdin.write(text),
    exitCode: once(child, 'close').then(() => child.exitCode),
    async shows(text) {
      const isShown = () => (typeof text === 'string' ? screen.text.includes(text) : text.test(screen.text));
      await until(isShown, `the terminal showing ${text}`, 30_000).catch((error: Error) => {
        throw new Error(`${error.message}; it shows:\n${screen.text}`);
      });
    },
  };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill(signal);
  await closed;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

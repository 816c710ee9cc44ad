/** Starts the built daemon and the fake model as processes of their own, and measures them from outside. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
export const token = 'benchmark-token-0123456789';

/** A home with a configuration that names the fake model. */
export function makeHome(llmUrl, config = {}) {
  const home = mkdtempSync(join(tmpdir(), 'picobot-bench-'));
  const platforms = { bench: { protocol: 'openai', baseUrl: `${llmUrl}/v1`, apiKey: 'none' } };
  writeFileSync(join(home, 'config.json'), JSON.stringify({ agent: { model: 'bench/echo' }, platforms, ...config }));
  return { home, remove: () => rmSync(home, { recursive: true, force: true }) };
}

/** Resolves when `/readyz` answers 200. `startMs`: from spawn to that answer. */
export async function startDaemon(home) {
  const port = await freePort();
  const startedAt = performance.now();
  const child = spawn(process.execPath, [join(root, 'bin/picobot.mjs'), 'start'], {
    env: {
      PATH: process.env.PATH,
      HOME: home,
      PICOBOT_HOME: home,
      PICOBOT_PORT: String(port),
      PICOBOT_TOKEN: token,
      PICOBOT_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaints = '';
  child.stderr.on('data', (chunk) => {
    complaints += chunk;
  });
  const url = `http://127.0.0.1:${port}`;
  while (!(await isReady(url))) {
    if (child.exitCode !== null) throw new Error(`the daemon ended: ${complaints}`);
    await sleep(2);
  }
  return {
    url,
    startMs: performance.now() - startedAt,
    residentMb: () => readResident(child.pid),
    processorMs: () => readProcessorMs(child.pid),
    stop: () => end(child),
  };
}

export async function startFakeModel() {
  const child = spawn(process.execPath, [join(root, 'test/fakes/llm-server/server.mjs'), '--bench'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise((resolve) =>
    child.stdout.once('data', (line) => resolve(JSON.parse(String(line)).url)),
  );
  return { url, stop: () => end(child) };
}

export async function post(url, path, body) {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

/** `share` 0.5 is the median. */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export const round = (value, digits = 1) => Number(value.toFixed(digits));

async function isReady(url) {
  try {
    return (await fetch(`${url}/readyz`)).ok;
  } catch {
    return false;
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function readResident(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return round(Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024);
}

/** User and system time so far; Linux counts it in hundredths of a second. */
function readProcessorMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function end(child) {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  return ended;
}

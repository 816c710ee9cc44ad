import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLogger, silentLogger } from '../../src/observability/log.js';
import { UserError } from '../../src/protocol/errors.js';

const canary = 'sk-canary-"quote"\\back/slash\n+42';
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'picobot log '));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function collector(isTTY = false) {
  const lines: string[] = [];
  return { lines, stream: { isTTY, write: (text: string) => lines.push(text) } };
}

test('a line is one JSON object with level, ISO time, fields and message, in the file and on a stderr that is no terminal', () => {
  const { lines, stream } = collector();
  const file = join(folder, 'logs', 'picobot.log');
  const log = createLogger({ level: 'info', secrets: [], file, stderr: stream });
  log.child({ runId: 'r1' }).info({ durationMs: 5 }, 'turn end');
  log.debug({}, 'not shown');
  expect(lines).toHaveLength(1);
  expect(readFileSync(file, 'utf8')).toBe(lines[0]);
  const { time, ...rest } = JSON.parse(lines[0]!);
  expect(rest).toEqual({ level: 'info', runId: 'r1', durationMs: 5, msg: 'turn end' });
  expect(new Date(time).toISOString()).toBe(time);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a terminal gets short lines for warnings and errors only, without control characters', () => {
  const { lines, stream } = collector(true);
  const log = createLogger({ level: 'debug', secrets: [], stderr: stream });
  log.info({}, 'connected');
  log.warn({ channel: 'tele\u001b[31mgram', err: new Error('401 Unauthorized') }, 'channel failed');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(
    /^\d\d:\d\d:\d\d warn {2}channel failed {2}channel=tele \[31mgram {2}err: 401 Unauthorized\n$/,
  );
});

test('a secret is nowhere: not in the message, a field, a nested field, an error, its stack or its causes', () => {
  const { lines, stream } = collector();
  const log = createLogger({ level: 'trace', secrets: [canary], stderr: stream });
  const cause = new Error(`inner ${canary}`);
  log.error(
    { err: new Error(`outer ${canary}`, { cause }), url: `https://x.test/?t=${encodeURIComponent(canary)}` },
    canary,
  );
  log.info({ nested: { list: [canary], [canary]: 1 } }, 'nested');
  log.child({ bound: canary }).info({}, 'child');
  const text = lines.join('');
  for (const line of lines) {
    expect(JSON.stringify(JSON.parse(line))).not.toContain('canary');
  }
  expect(text).toContain('********');
  expect(JSON.parse(lines[0]!).err.cause.message).toBe('inner ********');
});

test('whatever the secret is, the line stays JSON and does not hold it', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 8, unit: 'binary' }), fc.string(), (secret, around) => {
      const { lines, stream } = collector();
      createLogger({ level: 'info', secrets: [secret], stderr: stream }).info({ value: `${around}${secret}` }, 'm');
      const value = JSON.parse(lines[0]!).value;
      expect(value === undefined || !String(value).includes(secret) || '********'.includes(secret)).toBe(true);
    }),
  );
});

test('a secret that begins with the letter of an escape sequence does not break the line', () => {
  const { lines, stream } = collector();
  createLogger({ level: 'info', secrets: ['nabcdefgh'], stderr: stream }).info({ value: '\nabcdefgh' }, 'm');
  expect(JSON.parse(lines[0]!).msg).toBe('a line held a secret and was left out');
});

test('of an error only name, code, message, stack and causes are logged, and a known failure has no stack', () => {
  const { lines, stream } = collector();
  const log = createLogger({ level: 'info', secrets: [], stderr: stream });
  const bug = Object.assign(new TypeError('x is not a function'), { requestBody: 'private words' });
  log.error({ err: bug }, 'bug');
  log.error({ err: new UserError('queue_full', 'Wait.', { details: { text: 'private words' } }) }, 'refused');
  expect(lines.join('')).not.toContain('private words');
  expect(JSON.parse(lines[0]!).err).toMatchObject({ type: 'TypeError', stack: expect.stringContaining('log.test') });
  expect(JSON.parse(lines[1]!).err).toEqual({ type: 'UserError', code: 'queue_full', message: 'Wait.' });
});

test('an error that is its own cause is logged once and for all', () => {
  const { lines, stream } = collector();
  const error = new Error('loop');
  error.cause = error;
  createLogger({ level: 'info', secrets: [], stderr: stream }).error({ err: error }, 'm');
  expect(JSON.parse(lines[0]!).err.message).toBe('loop');
});

test('a full disk drops lines without an error, and the log says so when it works again', () => {
  const { lines, stream } = collector();
  const log = createLogger({ level: 'info', secrets: [], file: '/dev/full', stderr: stream });
  log.info({}, 'one');
  expect(lines).toHaveLength(1);
});

test('a folder that cannot be made does not stop the log on stderr, and lines are written once it can', () => {
  const { stream } = collector();
  const blocker = join(folder, 'logs');
  writeFileSync(blocker, 'a file where the folder should be');
  const file = join(blocker, 'picobot.log');
  const log = createLogger({ level: 'info', secrets: [], file, stderr: stream });
  log.info({}, 'lost');
  rmSync(blocker);
  log.info({}, 'kept');
  const written = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(written).toMatchObject([{ msg: 'log lines dropped', dropped: 1 }, { msg: 'kept' }]);
});

test('a log above 10 MB moves aside at the start, three old ones are kept', () => {
  const file = join(folder, 'picobot.log');
  const big = 'x'.repeat(10 * 1024 * 1024 + 1);
  for (const [name, text] of [
    ['', big],
    ['.1', 'one'],
    ['.2', 'two'],
    ['.3', 'three'],
  ] as const)
    writeFileSync(file + name, text);
  createLogger({ level: 'info', secrets: [], file }).info({}, 'fresh');
  expect(JSON.parse(readFileSync(file, 'utf8')).msg).toBe('fresh');
  expect(statSync(`${file}.1`).size).toBe(big.length);
  expect(readFileSync(`${file}.2`, 'utf8')).toBe('one');
  expect(readFileSync(`${file}.3`, 'utf8')).toBe('two');
});

test('a small log is appended to', () => {
  const file = join(folder, 'picobot.log');
  createLogger({ level: 'info', secrets: [], file }).info({}, 'first');
  createLogger({ level: 'info', secrets: [], file }).info({}, 'second');
  expect(readFileSync(file, 'utf8').match(/"msg":"(first|second)"/g)).toHaveLength(2);
});

test('level silent and the silent logger write nothing', () => {
  const { lines, stream } = collector();
  createLogger({ level: 'silent', secrets: [], stderr: stream }).error({}, 'm');
  silentLogger().child({}).error({}, 'm');
  expect(lines).toEqual([]);
});

import { PassThrough, Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readLines } from '../../src/cli/chat/read-lines.js';
import { chatCommand } from '../../src/cli/chat.js';
import type { SessionId } from '../../src/protocol/ids.js';
import { until } from '../client/ground.js';
import { startServer, type TestServer, token } from '../gateway/server.js';
import { fakeTerminal } from './fake-terminal.js';

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

async function chat(stdin: NodeJS.ReadableStream, options: { json?: boolean } = {}) {
  const terminal = fakeTerminal({ isTTY: false });
  const stderr = fakeTerminal({ isTTY: false });
  const code = await chatCommand(
    { url: `http://127.0.0.1:${server.port}`, token, ...options },
    { ...terminal, stdin, stderr: stderr.stdout },
  );
  return { code, out: terminal.raw, err: stderr.raw };
}

test('each line is a message, answered before the next one is sent', async () => {
  const input = Readable.from(['one\r\n\n', 'tw', 'o\nthree']);
  expect(await chat(input)).toEqual({ code: 0, out: 'echo: one\necho: two\necho: three\n', err: '' });
});

test('an answer that failed is told on stderr and in the exit code; the rest is answered', async () => {
  server.daemon.answer = (run, [message]) => {
    if (message!.text === 'bad') {
      run.end({ stopReason: 'model_error', error: { code: 'model_unreachable', message: 'Check it.' } });
      return;
    }
    run.text('fine');
    run.end();
  };
  expect(await chat(Readable.from(['bad\ngood\n/quit\nnever\n']))).toEqual({
    code: 1,
    out: 'fine\n',
    err: '⚠ Check it. (model_unreachable)\n',
  });
});

test('as JSON every frame is a line', async () => {
  const { out, code } = await chat(Readable.from(['hello\n']), { json: true });
  const frames = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(code).toBe(0);
  // Texts that wait for the reader are joined.
  expect([...new Set(frames.map((frame) => frame.type))]).toEqual(['start', 'text', 'end']);
  expect(frames.map((frame) => (frame.type === 'text' ? frame.content : '')).join('')).toBe('echo: hello');
});

test('a signal stops the answer and ends the chat, in the middle of a pipe that stays open too', async () => {
  server.daemon.answer = undefined;
  const input = new PassThrough();
  input.write('count\nnever\n');
  const ended = chat(input);
  await until(() => server.daemon.received.length === 1);
  server.daemon.begin('cli_chat:terminal:default' as SessionId).text('one two');
  process.emit('SIGTERM');
  expect(await ended).toEqual({ code: 1, out: 'one two\n', err: '⏹ Stopped.\n' });
  expect(server.daemon.received).toHaveLength(1);

  const idle = chat(new PassThrough());
  await until(() => process.listenerCount('SIGTERM') === 1);
  process.emit('SIGTERM');
  expect((await idle).code).toBe(1);
  expect(process.listenerCount('SIGTERM')).toBe(0);
});

test('a line without an end is refused', async () => {
  const endless = Readable.from(
    (function* () {
      for (;;) yield '天'.repeat(100_000);
    })(),
  );
  const lines = readLines(endless, new AbortController().signal);
  await expect(lines.next()).rejects.toMatchObject({ code: 'input_too_large' });
  expect(endless.destroyed).toBe(true);
});

import { PassThrough, Readable, Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AskOptions, askCommand } from '../../src/cli/ask.js';
import { startProxy } from '../client/cutting-proxy.js';
import { until } from '../client/ground.js';
import { startServer, type TestServer, token } from '../gateway/server.js';
import { VisibleScreen } from './visible-screen.js';

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

interface Outcome {
  code: number;
  out: string;
  err: string;
}

interface Question extends Partial<Omit<AskOptions, 'stdin' | 'stdout' | 'stderr'>> {
  text?: string;
  /** What comes through the pipe; undefined: a terminal. */
  piped?: string | Buffer | Readable;
  isTTY?: boolean;
}

function sink(isTTY: boolean): { stream: AskOptions['stdout']; text: () => string } {
  let text = '';
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _, done) {
      text += chunk;
      done();
    },
  });
  return { stream: Object.assign(stream, { isTTY, columns: 80 }), text: () => text };
}

async function ask({ text, piped, isTTY = false, ...options }: Question): Promise<Outcome> {
  const stdin =
    piped === undefined
      ? Object.assign(new PassThrough(), { isTTY: true })
      : piped instanceof Readable
        ? piped
        : Readable.from([piped]);
  const stdout = sink(isTTY);
  const stderr = sink(isTTY);
  const code = await askCommand(text, {
    url: `http://127.0.0.1:${server.port}`,
    token,
    ...options,
    stdin,
    stdout: stdout.stream,
    stderr: stderr.stream,
  });
  return { code, out: stdout.text(), err: stderr.text() };
}

describe('asking', () => {
  test('prints the answer and nothing else', async () => {
    expect(await ask({ text: 'hello' })).toEqual({ code: 0, out: 'echo: hello\n', err: '' });
  });

  test('puts what comes through the pipe behind the argument', async () => {
    expect((await ask({ text: 'sum up:', piped: 'line 1\nline 2\n' })).out).toBe('echo: sum up:\n\nline 1\nline 2\n');
    expect((await ask({ piped: Buffer.from('只有管道') })).out).toBe('echo: 只有管道\n');
    expect((await ask({ text: 'only this', piped: '' })).out).toBe('echo: only this\n');
  });

  test('each time begins a dialog of its own, named after the question', async () => {
    await ask({ text: 'one' });
    await ask({ text: '二'.repeat(40) });
    const sessions = server.daemon.control.list({ channel: 'cli_chat', chatId: 'ask' }).items;
    expect(new Set(sessions.map((session) => session.id)).size).toBe(2);
    expect(server.daemon.received.map((message) => message.dialogId)).toHaveLength(2);
    expect(server.daemon.received.every((message) => message.chatId === 'ask')).toBe(true);
  });

  test('goes on in a dialog that is named, by its beginning too', async () => {
    server.daemon.createSession('websocket', 'web', 'd_work');
    for (const session of ['websocket:web:d_work', 'd_work', 'd_w']) {
      expect((await ask({ text: 'hello', session })).code).toBe(0);
    }
    expect(server.daemon.received.map((message) => message.dialogId)).toEqual(['d_work', 'd_work', 'd_work']);
    expect(await ask({ text: 'hello', session: 'nowhere' })).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('session_not_found'),
    });
  });

  test('as JSON gives all that a program needs', async () => {
    const { code, out } = await ask({ text: 'hello', json: true });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      sessionId: expect.stringMatching(/^cli_chat:ask:/),
      runId: 'run_1',
      text: 'echo: hello',
      stopReason: 'end_turn',
      usage: { outputTokens: 3 },
    });
  });

  test('on a terminal shows the answer as it comes, and tools on the way', async () => {
    server.daemon.answer = (run) => {
      const call = { callId: 'c1', name: 'calculator', input: { expression: '17*23' } };
      run.text('Let me ', 'see.');
      run.step([call]);
      run.emit({ type: 'tool-call', step: 1, ...call });
      run.emit({
        type: 'tool-result',
        step: 1,
        callId: 'c1',
        name: 'calculator',
        state: 'done',
        output: '391',
        durationMs: 1,
      });
      run.text('It is ', '391.');
      run.end();
    };
    const { out, err } = await ask({ text: 'hello', isTTY: true });
    expect(out).toBe('Let me see.\nIt is 391.\n');
    const screen = new VisibleScreen();
    screen.write(err);
    expect(screen.text).toBe('⚙ calculator 17*23 → 391');
    expect((await ask({ text: 'hello' })).out).toBe('It is 391.\n');
  });

  test('a command is answered as well', async () => {
    server.daemon.answer = (run) => {
      run.emit({ type: 'notice', text: 'Nothing runs.' });
      run.end({ text: 'Nothing runs.' });
    };
    for (const isTTY of [false, true]) expect((await ask({ text: '/stop', isTTY })).out).toBe('Nothing runs.\n');
  });
});

describe('what goes wrong', () => {
  test('nothing to ask is wrong use', async () => {
    for (const question of [{}, { text: '  ' }, { piped: ' \n' }]) {
      expect(await ask(question)).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringContaining('nothing was asked'),
      });
    }
    expect(server.daemon.received).toHaveLength(0);
  });

  test('an answer that ended otherwise is printed, and the exit code says so', async () => {
    server.daemon.answer = (run) => {
      run.text('half');
      run.end({ stopReason: 'max_turns' });
    };
    expect(await ask({ text: 'hello' })).toEqual({
      code: 1,
      out: 'half\n',
      err: 'error: the answer ended with "max_turns"\n',
    });
    server.daemon.answer = (run) =>
      run.end({ stopReason: 'model_error', error: { code: 'model_unreachable', message: 'Check it.' } });
    expect(await ask({ text: 'hello' })).toMatchObject({ code: 1, out: '', err: '⚠ Check it. (model_unreachable)\n' });
    expect(JSON.parse((await ask({ text: 'hello', json: true })).out)).toMatchObject({
      stopReason: 'model_error',
      error: { code: 'model_unreachable' },
    });
  });

  test('no daemon at the address is told with the address and the way out', async () => {
    const { url, close } = await startProxy(1);
    await close();
    const answer = await ask({ text: 'hello', url });
    expect(answer).toMatchObject({ code: 1, out: '' });
    expect(answer.err).toContain(`No daemon answers at ${url}. Start it with "npm start"`);
    expect((await ask({ text: 'hello', url: 'nonsense://x' })).err).toContain('invalid_url');
    expect((await ask({ text: 'hello', token: 'wrong' })).err).toContain('--token');
  });

  test('more than a megabyte is refused without being read to its end', async () => {
    let given = 0;
    const endless = Readable.from(
      (function* () {
        for (; ; given += 1) yield 'x'.repeat(100_000);
      })(),
    );
    expect(await ask({ text: 'sum up', piped: endless })).toMatchObject({
      code: 1,
      err: expect.stringContaining('input_too_large'),
    });
    expect(given).toBeLessThan(100);
    expect((await ask({ piped: Buffer.from([0xff, 0xfe, 0x00]) })).err).toContain('input_not_text');
  });

  test('a message that the daemon does not take leaves no empty dialog behind', async () => {
    server.daemon.refusal = Object.assign(new Error('disk'), {});
    const deleted: string[] = [];
    server.daemon.control.delete = async (id) => {
      deleted.push(id);
    };
    expect((await ask({ text: 'hello' })).code).toBe(1);
    expect(deleted).toHaveLength(1);
  });

  test('control characters of the answer reach neither terminal nor pipe', async () => {
    server.daemon.answer = (run) => {
      run.text('a\x1b[2Jb\x9bc\x07');
      run.end();
    };
    expect((await ask({ text: 'hello' })).out).toBe('a[2Jbc\n');
    expect((await ask({ text: 'hello', isTTY: true })).out).toBe('a[2Jbc\n');
  });
});

test('an interrupt stops the run and waits for its end', async () => {
  server.daemon.answer = undefined;
  const answer = ask({ text: 'count' });
  await until(() => server.daemon.received.length === 1);
  const { channel, chatId, dialogId } = server.daemon.received[0]!;
  server.daemon.begin(`${channel}:${chatId}:${dialogId}` as never).text('one two');
  process.emit('SIGINT');
  expect(await answer).toEqual({
    code: 1,
    out: 'one two\n',
    err: 'Stopping; once more to leave at once.\nerror: the answer ended with "cancelled"\n',
  });
  expect(process.listenerCount('SIGINT')).toBe(0);
});

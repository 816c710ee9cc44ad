import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { daemonCommands } from '../../src/cli/chat/slash-commands.js';
import { chatCommand } from '../../src/cli/chat.js';
import type { SessionId } from '../../src/protocol/ids.js';
import { commands } from '../../src/session/commands/index.js';
import { type CuttingProxy, startProxy } from '../client/cutting-proxy.js';
import { until } from '../client/ground.js';
import { startServer, type TestServer, type TestServerOptions, token } from '../gateway/server.js';
import { tempDir } from '../temp-dir.js';
import { type FakeTerminal, fakeTerminal } from './fake-terminal.js';

const dialog = 'cli_chat:terminal:default' as SessionId;
const ctrl = { c: '\x03', d: '\x04', u: '\x15' };

interface Chat extends FakeTerminal {
  server: TestServer;
  proxy: CuttingProxy;
  home: string;
  /** The exit code. */
  ended: Promise<number>;
}

async function startChat(
  options: TestServerOptions & {
    columns?: number;
    env?: Record<string, string>;
    session?: string;
    home?: string;
    prepare?: (server: TestServer) => void;
  } = {},
): Promise<Chat> {
  const server = await startServer(options);
  options.prepare?.(server);
  const proxy = await startProxy(server.port);
  const home = options.home ?? tempDir();
  const terminal = fakeTerminal({
    ...(options.columns !== undefined && { columns: options.columns }),
    env: { PICOBOT_HOME: home, ...options.env },
  });
  const ended = chatCommand(
    { url: proxy.url, token, ...(options.session !== undefined && { session: options.session }) },
    terminal,
  );
  onTestFinished(async () => {
    terminal.type(ctrl.c.repeat(4));
    await ended.catch(() => {});
    await proxy.close();
    await server.close();
  });
  await Promise.race([terminal.shows(/\n›/), ended]);
  return Object.defineProperties({ server, proxy, home, ended }, Object.getOwnPropertyDescriptors(terminal)) as Chat;
}

/** Types a message and waits until the daemon has it. */
async function say(chat: Chat, text: string): Promise<void> {
  const count = chat.server.daemon.received.length;
  chat.type(`${text}\r`);
  await until(() => chat.server.daemon.received.length === count + 1, `the daemon getting ${text}`);
}

describe('an answer', () => {
  test('comes below the question, then the prompt comes back', async () => {
    const chat = await startChat({ env: { NO_COLOR: '1' } });
    await say(chat, 'hello');
    await chat.shows(/echo: hello\n›$/);
    expect(chat.screen.lines).toEqual([
      'PicoBot 1.2.3 · fake/model · New chat',
      '/help lists the commands, Ctrl-C stops an answer, Ctrl-D quits.',
      '› hello',
      'echo: hello',
      '›',
    ]);
    expect(chat.raw).not.toContain('\x1b[2m');
    expect(chat.raw).not.toContain('\x1b[1m');
  });

  test('shows reasoning, tools as short lines, notices and failures', async () => {
    const chat = await startChat({ answer: undefined, columns: 60 });
    await say(chat, 'what is 17*23?');
    const run = chat.server.daemon.begin(dialog);
    run.emit({ type: 'reasoning-delta', step: 1, text: 'I should ' });
    run.emit({ type: 'reasoning-delta', step: 1, text: 'calculate.' });
    await chat.shows('I should calculate.');
    expect(chat.raw).toMatch(/\[2mI should (\S*)calculate\./);
    run.text('Let me see.');
    const call = { callId: 'c1', name: 'calculator', input: { expression: '17*23' } };
    run.step([call]);
    run.emit({ type: 'tool-call', step: 1, ...call });
    await chat.shows('⚙ calculator 17*23 …');
    const result = { step: 1, callId: 'c1', name: 'calculator', durationMs: 1 };
    run.emit({ type: 'tool-result', ...result, state: 'done', output: `391 ${'and so on '.repeat(20)}` });
    await chat.shows('⚙ calculator 17*23 → 391');
    run.emit({ type: 'notice', text: 'Nearly **there**.' });
    run.text('It is ', '**391**.');
    run.end({ stopReason: 'model_error', error: { code: 'model_unreachable', message: 'Check the key.' } });
    await chat.shows('(model_unreachable)');
    await chat.shows(/\n›$/);
    expect(chat.screen.lines.slice(2)).toEqual([
      '› what is 17*23?',
      'I should calculate.',
      'Let me see.',
      '⚙ calculator 17*23 → 391 and so on and so on and so on and…',
      'Nearly **there**.',
      'It is **391**.',
      '⚠ Check the key. (model_unreachable)',
      '›',
    ]);
  });

  test('cannot steer the terminal, nor can titles, tools and errors', async () => {
    const evil = '\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp.exe\r\x1b[1;1Hgone';
    const chat = await startChat({
      answer: undefined,
      prepare: ({ daemon }) => {
        daemon.createSession('cli_chat', 'terminal', 'default').title = `t${evil}`;
      },
    });
    await say(chat, 'hello');
    const run = chat.server.daemon.begin(dialog);
    run.text('a\x1b', '[2Jb', evil);
    run.emit({ type: 'reasoning-delta', step: 1, text: evil });
    run.emit({ type: 'notice', text: evil });
    run.emit({ type: 'tool-call', step: 1, callId: 'c', name: `n${evil}`, input: { a: evil } });
    run.emit({
      type: 'tool-result',
      step: 1,
      callId: 'c',
      name: `n${evil}`,
      state: 'failed',
      output: evil,
      durationMs: 1,
    });
    run.end({ stopReason: 'model_error', error: { code: 'x', message: evil } });
    await chat.shows(/\n›$/);
    // The screen throws at anything but colours and the editor's own movements.
    expect(chat.screen.text).toContain('a[2Jb]0;owned[2J31mgnp.exe[1;1Hgone');
    for (const bad of ['\x1b[2J', '\x1b]', '\x9b', '\u202e']) expect(chat.raw).not.toContain(bad);
  });

  test('of half characters in two pieces is whole', async () => {
    const chat = await startChat({ answer: undefined });
    await say(chat, 'hello');
    const run = chat.server.daemon.begin(dialog);
    run.text('你\ud83d', '\ude00好');
    run.end();
    await chat.shows('你😀好');
  });
});

describe('typing', () => {
  test('a trailing backslash and a pasted block make one message of several lines', async () => {
    const chat = await startChat();
    await say(chat, 'one\\\rtwo\\\rthree');
    await chat.shows(/\n›$/);
    chat.type('\x1b[200~def f():\n\treturn "\\\\"\n\nend\x1b[201~');
    await chat.shows('… end');
    expect(chat.server.daemon.received).toHaveLength(1);
    await say(chat, ' here');
    expect(chat.server.daemon.received.map((message) => message.text)).toEqual([
      'one\ntwo\nthree',
      'def f():\n\treturn "\\\\"\n\nend here',
    ]);
  });

  test('while an answer streams is kept for afterwards; whole messages wait for their turn', async () => {
    const chat = await startChat({ answer: undefined });
    await say(chat, 'first');
    const run = chat.server.daemon.begin(dialog);
    run.text('an answer ');
    await chat.shows('an answer');
    chat.type('second\rthi');
    run.text('goes on');
    await chat.shows('an answer goes on');
    expect(chat.screen.text).not.toContain('second');
    chat.server.daemon.answer = (next, [message]) => {
      next.text(`echo ${message!.text}`);
      next.end();
    };
    run.end();
    await chat.shows(/› second\necho second\n› thi$/);
    chat.type(`rd\r`);
    await chat.shows(/› third\necho third\n›$/);
    expect(chat.server.daemon.received.map((message) => message.text)).toEqual(['first', 'second', 'third']);
  });

  test('long lines of wide characters stay right when something is shown above them', async () => {
    const chat = await startChat();
    await say(chat, 'hello');
    await chat.shows(/\n›$/);
    const typed = '天地玄黄宇宙洪荒'.repeat(7);
    chat.type(typed);
    chat.type('\x1b[D\x1b[D');
    await until(() => chat.screen.cursor.row === 5);
    const { cursor } = chat.screen;
    chat.proxy.cut();
    await chat.shows('Connected again.');
    const lines = chat.screen.lines.slice(4);
    expect(lines[0]).toBe('Connection lost; trying again …');
    expect(lines[1]).toBe('Connected again.');
    expect(lines.slice(2).join('')).toBe(`› ${typed}`);
    expect(chat.screen.cursor).toEqual({ ...cursor, row: cursor.row + 2 });
    chat.type('!');
    await say(chat, '');
    expect(chat.server.daemon.received[1]?.text).toBe(`${typed.slice(0, -2)}!${typed.slice(-2)}`);
  });

  test('Tab completes commands and the ids of dialogs', async () => {
    const chat = await startChat({
      prepare: ({ daemon }) => {
        daemon.createSession('cli_chat', 'terminal', 'd_one');
        daemon.createSession('cli_chat', 'terminal', 'd_other');
        daemon.createSession('websocket', 'web', 'd_web');
      },
    });
    chat.type('/sw\t');
    await chat.shows('› /switch');
    chat.type('d_on\t');
    await chat.shows('› /switch d_one');
    chat.type(ctrl.u);
    chat.type('/e');
    chat.type('\t');
    await chat.shows('/exit');
  });

  test('what was typed is found again in the next chat, in a file for its owner alone', async () => {
    const home = tempDir();
    const first = await startChat({ home });
    await say(first, 'remember me');
    await first.shows(/\n›$/);
    first.type(ctrl.d);
    expect(await first.ended).toBe(0);
    const file = join(home, 'chat-history');
    expect(readFileSync(file, 'utf8')).toBe('remember me\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);

    writeFileSync(file, Array.from({ length: 5000 }, (_, index) => `line ${index}\n`).join(''), { mode: 0o644 });
    const second = await startChat({ home });
    second.type('\x1b[A');
    await second.shows('› line 4999');
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(1001);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});

describe('stopping and leaving', () => {
  test('Ctrl-C stops the answer; the chat goes on', async () => {
    const chat = await startChat({ answer: undefined });
    await say(chat, 'count to a million');
    chat.server.daemon.begin(dialog).text('one two');
    await chat.shows('one two');
    chat.type(ctrl.c);
    await chat.shows(/⏹ Stopped\.\n›$/);
    chat.server.daemon.answer = (run) => {
      run.text('fine');
      run.end();
    };
    await say(chat, 'next');
    await chat.shows(/fine\n›$/);
  });

  test('Ctrl-C twice leaves while an answer streams, and the terminal as it was', async () => {
    const chat = await startChat({ answer: undefined });
    await say(chat, 'hello');
    chat.type(ctrl.c);
    chat.type(ctrl.c);
    expect(await chat.ended).toBe(0);
    expect([...chat.screen.modes]).toEqual([]);
    expect(chat.screen.cursor.column).toBe(0);
  });

  test('Ctrl-C drops what is typed, then asks, then leaves', async () => {
    const chat = await startChat();
    chat.type('never mind\\\rthis');
    await chat.shows('… this');
    chat.type(ctrl.c);
    await chat.shows(/\n›$/);
    chat.type(ctrl.c);
    await chat.shows('Ctrl-C once more quits');
    await say(chat, 'still here');
    await chat.shows(/echo: still here\n›$/);
    chat.type(ctrl.c);
    chat.type(ctrl.c);
    expect(await chat.ended).toBe(0);
    expect(chat.server.daemon.received.map((message) => message.text)).toEqual(['still here']);
  });

  test('Ctrl-D and /quit leave; a run goes on without us', async () => {
    const chat = await startChat({ answer: undefined });
    await say(chat, 'hello');
    const run = chat.server.daemon.begin(dialog);
    run.text('half');
    await chat.shows('half');
    chat.type('/quit\r');
    expect(await chat.ended).toBe(0);
    expect(chat.screen.text).toContain('The answer goes on in the daemon');
    expect(run.signal.aborted).toBe(false);
  });
});

describe('the connection', () => {
  test('that breaks in mid-answer is told of, and the answer is whole', async () => {
    const chat = await startChat({ answer: undefined });
    await say(chat, 'hello');
    const run = chat.server.daemon.begin(dialog);
    run.text('one ', 'two ');
    await chat.shows('one two');
    chat.proxy.isDown = true;
    chat.proxy.cut();
    await chat.shows('Connection lost; trying again …');
    run.text('three ');
    run.step();
    run.text('four');
    chat.proxy.isDown = false;
    await chat.shows('Connected again.');
    run.end();
    await chat.shows(/one two\nConnection lost; trying again …\nConnected again\.\nthree four\n›$/);
  });

  test('in small pieces and over a daemon that is gone for good', async () => {
    const chat = await startChat();
    chat.proxy.pieceSize = 3;
    await say(chat, '天地'.repeat(100));
    await chat.shows(/\n›$/);
    expect(chat.screen.text.replaceAll('\n', '')).toContain(`echo: ${'天地'.repeat(100)}`);
    await chat.proxy.close();
    await chat.shows('Connection lost');
    chat.type(ctrl.d);
    expect(await chat.ended).toBe(0);
  });
});

describe('dialogs', () => {
  test('the end of the dialog is shown when it is opened, others show up as they write', async () => {
    const chat = await startChat();
    await say(chat, 'mine');
    await chat.shows(/\n›$/);
    const { receive } = chat.server.daemon;
    const message = { ...chat.server.daemon.received[0]!, text: 'from the page', messageId: 'other' };
    chat.type('typing');
    await chat.shows('› typing');
    await receive(message);
    await chat.shows(/› from the page\necho: from the page\n› typing$/);
    chat.type(`${ctrl.u}${ctrl.d}`);
    expect(await chat.ended).toBe(0);
    expect(chat.screen.text.match(/echo: mine/g)).toHaveLength(1);
  });

  test('a named one is opened by the beginning of its id; its newest messages come first', async () => {
    let taken: Promise<unknown> = Promise.resolve();
    const chat = await startChat({
      session: 'd_we',
      prepare: ({ daemon }) => {
        daemon.createSession('websocket', 'web', 'd_web');
        taken = daemon.receive({
          channel: 'websocket',
          chatId: 'web',
          dialogId: 'd_web',
          messageId: 'old',
          sender: { id: 'owner', role: 'owner' },
          chatType: 'direct',
          mentioned: true,
          text: 'an old question',
          attachments: [],
          sentAt: 0,
        });
      },
    });
    await taken;
    await chat.shows(/› an old question\necho: an old question\n›$/);
    await say(chat, 'a new one');
    expect(chat.server.daemon.received.at(-1)).toMatchObject({
      channel: 'websocket',
      chatId: 'web',
      dialogId: 'd_web',
    });
  });

  test('after a command that leads to another dialog the chat goes there', async () => {
    const chat = await startChat();
    chat.server.daemon.answer = (run, [message]) => {
      if (message!.text.startsWith('/new')) chat.server.daemon.createSession('cli_chat', 'terminal', 'd_fresh');
      run.text('done');
      run.end();
    };
    await say(chat, 'hello');
    await chat.shows(/\n›$/);
    await say(chat, '/new');
    await chat.shows('— New chat (cli_chat:terminal:d_fresh) —');
    await chat.shows(/\n›$/);
    await say(chat, 'again');
    expect(chat.server.daemon.received.map((message) => message.dialogId)).toEqual(['default', 'default', 'd_fresh']);
  });

  test('one that is not there, and a daemon that is not there, end it before it begins', async () => {
    const server = await startServer();
    onTestFinished(() => server.close());
    const terminal = fakeTerminal();
    const url = `http://127.0.0.1:${server.port}`;
    await expect(chatCommand({ url, token, session: 'nowhere' }, terminal)).rejects.toMatchObject({
      code: 'session_not_found',
    });
    await expect(chatCommand({ url, token: 'wrong' }, terminal)).rejects.toMatchObject({ code: 'unauthorized' });
    const unused = (await startProxy(1)) as CuttingProxy;
    await unused.close();
    await expect(chatCommand({ url: unused.url, token }, terminal)).rejects.toMatchObject({
      code: 'not_running',
      message: expect.stringContaining(unused.url),
    });
    expect(terminal.raw).toBe('');
  });
});

test('the terminal knows the commands of the daemon', () => {
  expect([...daemonCommands].sort()).toEqual(commands.map((command) => command.names[0]).sort());
});

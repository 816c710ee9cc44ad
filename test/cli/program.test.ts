import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../client/ground.js';
import { type FakeStep, startLlmServer } from '../fakes/llm-server/server.mjs';
import { buildProgram, createHome, hasScript, openTerminal, runProgram, startProgram } from './program.js';

const slow = { timeout: 120_000 };

if (!hasScript) console.warn('NOTICE: no `script` of util-linux here: the tests on a pseudo-terminal are skipped.');

/** A home whose model answers `fine 1`, `fine 2`, … unless a test says otherwise. */
async function homeWithModel() {
  let count = 0;
  const llm = await startLlmServer({
    respond: () => {
      count += 1;
      return { text: `fine ${count}` };
    },
  });
  onTestFinished(() => llm.close());
  const home = await createHome({
    agent: { model: 'local/test' },
    platforms: { local: { protocol: 'openai', baseUrl: llm.baseUrl, apiKey: 'none' } },
  });
  return { llm, home };
}

/** Half of its answer is there at once, the rest when the test wants it. */
function held(text: string[]): { step: FakeStep; release: () => void } {
  let release = () => {};
  const midway = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { step: { text, midway }, release };
}

beforeAll(buildProgram, 180_000);

describe.skipIf(!hasScript)('on a pseudo-terminal', () => {
  test('a chat with the built-in model: answer, tool, Chinese, leaving', slow, async () => {
    const home = await createHome();
    await startProgram(home);
    const terminal = openTerminal(home, ['chat']);
    await terminal.shows(/\n›$/);
    terminal.type('what is 17*23\r');
    await terminal.shows(/⚙ calculator 17\*23 → 391\n17\*23 = 391\n›$/);
    terminal.type('你好，请介绍一下你自己，说得详细一点，我想看看一行放不下的时候会怎么样呢\r');
    await terminal.shows('你好！');
    await terminal.shows(/\n›$/);
    for (const line of terminal.screen.lines) expect([...line].length).toBeLessThanOrEqual(80);
    terminal.type('\x04');
    expect(await terminal.exitCode).toBe(0);
    expect(readFileSync(join(home.folder, 'chat-history'), 'utf8')).toContain('what is 17*23\n');

    const again = openTerminal(home, ['chat']);
    await again.shows(/› what is 17\*23\n17\*23 = 391|⚙ calculator/);
    again.type('\x1b[A\x1b[A');
    await again.shows(/\n› what is 17\*23$/);
    again.type('\x15\x03\x03');
    expect(await again.exitCode).toBe(0);
  });

  test('Ctrl-C stops a slow model, and the next message is answered', slow, async () => {
    const { llm, home } = await homeWithModel();
    const first = held(['one ', 'two ', 'three ', 'four ']);
    llm.script(first.step);
    await startProgram(home);
    const terminal = openTerminal(home, ['chat']);
    await terminal.shows(/\n›$/);
    terminal.type('count\r');
    await terminal.shows('one');
    terminal.type('\x03');
    await terminal.shows(/⏹ Stopped\.\n›$/);
    first.release();
    terminal.type('still there?\r');
    await terminal.shows(/fine 1\n›$/);
    terminal.type('\x04');
    expect(await terminal.exitCode).toBe(0);
  });

  test('a daemon that is killed in mid-answer and started again goes on before our eyes', slow, async () => {
    const { llm, home } = await homeWithModel();
    const first = held(['lost ', 'words ', 'never ', 'seen ']);
    llm.script(first.step);
    const daemon = await startProgram(home);
    const terminal = openTerminal(home, ['chat']);
    await terminal.shows(/\n›$/);
    terminal.type('tell me\r');
    await terminal.shows('lost');
    await daemon.kill('SIGKILL');
    await terminal.shows('Connection lost; trying again …');
    first.release();
    llm.script({ text: ['the ', 'whole ', 'answer'] });
    await startProgram(home);
    await terminal.shows(
      /Connected again\.[\s\S]*The daemon was restarted; the answer goes on\.\nthe whole answer\n›$/,
    );
    expect(terminal.screen.text.match(/whole answer/g)).toHaveLength(1);
    terminal.type('\x04');
    expect(await terminal.exitCode).toBe(0);
  });

  test('an answer to ask streams on a terminal', slow, async () => {
    const { llm, home } = await homeWithModel();
    const first = held(['# Title\n', 'a **bold** ', 'move ', 'forward']);
    llm.script(first.step);
    await startProgram(home);
    const terminal = openTerminal(home, ['ask', 'say something']);
    await terminal.shows('# Title');
    expect(terminal.screen.text).not.toContain('forward');
    first.release();
    expect(await terminal.exitCode).toBe(0);
    expect(terminal.screen.text).toBe('# Title\na **bold** move forward');
  });
});

describe('through pipes', () => {
  test('ask, chat, sessions and status work together', slow, async () => {
    const { llm, home } = await homeWithModel();
    await startProgram(home);
    const asked = await runProgram(home, ['ask', 'sum up:', '--json'], 'a line\n').finished;
    expect(asked).toMatchObject({ code: 0, err: '' });
    const answer = JSON.parse(asked.out);
    expect(answer).toMatchObject({ stopReason: 'end_turn', text: 'fine 1' });

    expect(llm.requests[0]!.body).toContain('sum up:\\n\\na line');

    const chat = await runProgram(home, ['chat'], 'first line\n\n第二行\n/info\n').finished;
    expect(chat.code).toBe(0);
    expect(chat.out).toMatch(/^fine 2\nfine 3\n[\s\S]*cli_chat:terminal:default/);

    const json = await runProgram(home, ['chat', '--json'], 'hello\n').finished;
    const frames = json.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(frames.at(0)).toMatchObject({ type: 'start' });
    expect(frames.at(-1)).toMatchObject({ type: 'end', content: { stopReason: 'end_turn' } });

    const list = await runProgram(home, ['sessions', 'list', '--json']).finished;
    expect(
      JSON.parse(list.out)
        .items.map((session: { id: string }) => session.id)
        .sort(),
    ).toEqual([answer.sessionId, 'cli_chat:terminal:default'].sort());
    const short = answer.sessionId.split(':')[2].slice(0, 8);
    expect((await runProgram(home, ['sessions', 'rename', short, 'A', 'new', 'name']).finished).code).toBe(0);
    expect((await runProgram(home, ['sessions', 'list']).finished).out).toMatch(/A new name/);
    expect((await runProgram(home, ['sessions', 'show', short]).finished).out).toContain('a line');
    expect((await runProgram(home, ['sessions', 'delete', short]).finished).code).toBe(0);
    expect(await runProgram(home, ['sessions', 'show', short]).finished).toMatchObject({
      code: 1,
      err: expect.stringContaining('session_not_found'),
    });
    expect((await runProgram(home, ['sessions', 'restore', answer.sessionId]).finished).code).toBe(0);
    expect((await runProgram(home, ['sessions', 'show', short]).finished).code).toBe(0);
    expect((await runProgram(home, ['status']).finished).out).toMatch(/ready since[\s\S]*cli_chat +running/);
  });

  test('wrong use is 2, failure 1; a reader that leaves early is no crash', slow, async () => {
    const { llm, home } = await homeWithModel();
    for (const args of [['ask'], ['sessions', 'show'], ['sessions', 'rename', 'x'], ['ask', '--nonsense', 'x']]) {
      expect(await runProgram(home, args).finished).toMatchObject({ code: 2, out: '' });
    }
    // Before the first start there is no token.
    expect(await runProgram(home, ['ask', 'x']).finished).toMatchObject({
      code: 1,
      err: expect.stringContaining('npm start'),
    });
    const daemon = await startProgram(home);
    llm.script({ text: ['x'.repeat(300_000)] });
    const early = runProgram(home, ['ask', 'much']);
    early.child.stdout?.destroy();
    expect(await early.finished).toMatchObject({ err: '' });
    await daemon.kill('SIGTERM');
    const gone = await runProgram(home, ['ask', 'x']).finished;
    expect(gone.code).toBe(1);
    expect(gone.err).toContain(`No daemon answers at http://127.0.0.1:${home.port}. Start it with "npm start"`);
  });

  test('an interrupt stops the run', slow, async () => {
    const { llm, home } = await homeWithModel();
    const first = held(['one ', 'two ', 'three ', 'four ']);
    llm.script(first.step);
    await startProgram(home);
    const ask = runProgram(home, ['ask', 'count'], null);
    ask.child.stdin?.end();
    await until(() => llm.requests.length === 1, 'the model being asked', 30_000);
    ask.child.kill('SIGINT');
    const { code, err } = await ask.finished;
    expect(code).toBe(1);
    expect(err).toContain('the answer ended with "cancelled"');
    first.release();
    expect(await llm.requests[0]!.closed).toBe(true);
  });
});

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import BetterSqlite3 from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import type { InboundMessage } from '../../src/protocol/messages.js';
import { type FakeRequest, type FakeStep, startLlmServer } from '../fakes/llm-server/server.mjs';
import { tempDir } from '../temp-dir.js';
import { startPlatform } from './platform.mjs';

const message: InboundMessage = {
  channel: 'platform',
  chatId: 'chat',
  messageId: 'm1',
  sender: { id: 'ann', role: 'owner' },
  chatType: 'direct',
  mentioned: true,
  text: 'count please',
  attachments: [],
  sentAt: 0,
};

/** Asks for the tool once; with a result, or the word that it was interrupted, it answers. */
function countOnce(request: FakeRequest): FakeStep {
  const hasResult = /count is|may or may not/.test(request.body);
  return hasResult
    ? { text: ['it is ', 'done'] }
    : { text: ['let me ', 'count'], calls: [{ name: 'count', input: { label: 'one' } }] };
}

const everyStep = [
  'after-receive',
  'after-inbound-commit',
  'before-model-call',
  'during-model-call',
  'after-model-call',
  'before-tool',
  'after-tool',
  'before-model-call#2',
  'during-model-call#2',
  'after-model-call#2',
  'before-answer-commit',
  'after-answer-commit',
  'before-send',
  'after-send',
];
const sendSteps = ['after-answer-commit', 'before-send', 'after-send'];

const cases = [
  ...everyStep.map((step) => ({ step, protocol: 'openai' as const, isIdempotent: false })),
  ...everyStep.map((step) => ({ step, protocol: 'anthropic' as const, isIdempotent: false })),
  ...sendSteps.map((step) => ({ step, protocol: 'openai' as const, isIdempotent: true })),
];

test.each(cases)(
  'killed at $step ($protocol, idempotent platform: $isIdempotent), the message is answered once after a restart',
  async (crash) => {
    const platform = await startPlatform({ isIdempotent: crash.isIdempotent });
    const llm = await startLlmServer({ respond: countOnce });
    onTestFinished(async () => {
      await platform.close();
      await llm.close();
    });
    const workspace = tempDir();
    const start = (crashAt?: string) =>
      startChild({ crash, workspace, platformUrl: platform.url, llmUrl: llm.baseUrl, crashAt });

    platform.offer(message);
    const killed = start(crash.step);
    const [, signal] = await once(killed, 'exit');
    expect(signal).toBe('SIGKILL');

    const restarted = start();
    await once(restarted, 'message');
    await platform.until(() => platform.sent.some((sent) => sent.body.endsWith('done')));
    restarted.kill('SIGTERM');
    const [code] = await once(restarted, 'exit');
    expect(code).toBe(0);

    const perhapsTwice = crash.step === 'after-send' && !crash.isIdempotent;
    expect(platform.sent.length).toBe(perhapsTwice ? 2 : 1);
    expect(new Set(platform.sent.map((sent) => sent.id)).size).toBe(1);
    const toolWasReached = crash.step !== 'before-tool' && crash.step !== 'after-model-call';
    if (toolWasReached) expect(platform.toolRuns.length).toBe(1);
    expect(platform.toolRuns.length).toBeLessThanOrEqual(1);
    expect(llm.requests.map((request) => request.refusal).filter(Boolean)).toEqual([]);
    expect(openRows(workspace)).toBe(0);
  },
);

test('a turn that kills the program again and again is given up with a word to the person', async () => {
  const platform = await startPlatform({ isIdempotent: false });
  const llm = await startLlmServer({ respond: countOnce });
  onTestFinished(async () => {
    await platform.close();
    await llm.close();
  });
  const workspace = tempDir();
  const crash = { protocol: 'openai' as const, isIdempotent: false };
  platform.offer(message);
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const child = startChild({
      crash,
      workspace,
      platformUrl: platform.url,
      llmUrl: llm.baseUrl,
      crashAt: 'before-model-call',
    });
    expect((await once(child, 'exit'))[1]).toBe('SIGKILL');
  }
  const last = startChild({
    crash,
    workspace,
    platformUrl: platform.url,
    llmUrl: llm.baseUrl,
    crashAt: 'before-model-call',
  });
  await once(last, 'message');
  await platform.until(() => platform.sent.length > 0);
  expect(platform.sent[0]?.body).toContain('run_crashed');
  last.kill('SIGTERM');
  expect((await once(last, 'exit'))[0]).toBe(0);
});

function startChild(options: {
  crash: { protocol: string; isIdempotent: boolean };
  workspace: string;
  platformUrl: string;
  llmUrl: string;
  crashAt?: string | undefined;
}): ChildProcess {
  const child = fork(fileURLToPath(new URL('./daemon.mjs', import.meta.url)), {
    env: {
      PATH: process.env.PATH,
      CRASH_AT: options.crashAt ?? '',
      PLATFORM_URL: options.platformUrl,
      LLM_URL: options.llmUrl,
      PROTOCOL: options.crash.protocol,
      IDEMPOTENT: options.crash.isIdempotent ? 'yes' : 'no',
      WORKSPACE: options.workspace,
    },
    stdio: 'inherit',
  });
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  });
  return child;
}

function openRows(workspace: string): number {
  const db = new BetterSqlite3(`${workspace}/picobot.db`, { readonly: true });
  try {
    const count = (sql: string) => db.prepare(sql).pluck().get() as number;
    return (
      count("SELECT count(*) FROM inbound WHERE state <> 'done'") +
      count("SELECT count(*) FROM outbound WHERE state NOT IN ('sent', 'failed')")
    );
  } finally {
    db.close();
  }
}

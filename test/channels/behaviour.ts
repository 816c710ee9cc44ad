/**
 * What every channel must do, whatever its platform: `describeChannel(kit)` in a test file of the adapter's folder runs it
 * through the whole daemon against the platform's wire-level fake. An adapter of your own needs a kit and these lines.
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Model, ModelEvent, ModelRequest } from '../../src/providers/model.js';
import { say, scriptedModel } from '../fakes/scripted-model.js';
import type { ChannelKit, ShownMessage } from '../harness/channel-kit.js';
import { startDaemon, type TestDaemon, type TestDaemonOptions } from '../harness/daemon.js';
import { virtualClock } from '../harness/virtual-clock.js';
import { tempDir } from '../temp-dir.js';

const direct = { chat: 'direct' } as const;
const group = { chat: 'group', mention: true } as const;
/** Where a test counts sends, nothing but the answer itself is sent. */
const noDrafts = { streaming: false };

export function describeChannel(kit: ChannelKit): void {
  /** The platform's fake and a daemon that is connected to it. */
  async function connect(model: Model, account: Record<string, unknown> = {}) {
    const clock = virtualClock();
    const platform = await kit.start(clock);
    onTestFinished(() => platform.stop());
    const workspace = tempDir();
    const start = (own: Partial<TestDaemonOptions> = {}): Promise<TestDaemon> =>
      startDaemon({
        model,
        workspace,
        now: clock.now,
        sleep: clock.sleep,
        ...own,
        config: {
          sessions: { whileBusy: 'queue' },
          channels: { [kit.name]: { ...platform.config, ...account } },
        },
      });
    return { clock, platform, start, daemon: await start() };
  }

  /** Answers each question with `re: <question>`. */
  const echo = () => scriptedModel((request) => say(`re: ${lastText(request)}`));
  const texts = (shown: ShownMessage[]) => shown.map(({ text }) => text.trim());
  const hasAnswer = (text: string) => (shown: ShownMessage[]) => texts(shown).includes(text);

  describe(`${kit.name}: what every channel does`, () => {
    test('a direct message is answered once', async () => {
      const { platform } = await connect(echo());
      await platform.say({ ...direct, text: 'hello' });
      const chat = platform.chatId(direct);
      expect(texts(await platform.untilShown(chat, hasAnswer('re: hello')))).toEqual(['re: hello']);
    });

    test('answers come in the order of the questions, chats side by side', async () => {
      const { platform } = await connect(echo());
      for (const text of ['q1', 'q2', 'q3', 'q4']) {
        await platform.say({ ...direct, text });
        await platform.say({ ...direct, place: 'second', text });
      }
      for (const place of ['first', 'second'] as const) {
        const chat = platform.chatId({ ...direct, place });
        const shown = await platform.untilShown(
          chat,
          (messages) => messages.length >= 4 && hasAnswer('re: q4')(messages),
        );
        expect(texts(shown)).toEqual(['re: q1', 're: q2', 're: q3', 're: q4']);
      }
    });

    test('an update that is delivered again runs nothing again: during the turn, after it, after a restart', async () => {
      const gate = gatedModel(['re: once']);
      const { platform, daemon, start } = await connect(gate.model);
      const chat = platform.chatId(direct);
      const id = await platform.say({ ...direct, text: 'once' });
      await gate.called;
      await platform.redeliver(id);
      gate.release();
      await platform.untilShown(chat, hasAnswer('re: once'));
      await platform.redeliver(id);
      await daemon.stop();
      await start({ model: echo() });
      await platform.redeliver(id);
      await platform.say({ ...direct, text: 'next' });
      expect(texts(await platform.untilShown(chat, hasAnswer('re: next')))).toEqual(['re: once', 're: next']);
    });

    test('an update is acknowledged when it is stored, not when the model has answered', async () => {
      const gate = gatedModel(['done']);
      const { platform } = await connect(gate.model);
      await platform.say({ ...direct, text: 'think long' });
      await gate.called;
      expect(texts(platform.shown(platform.chatId(direct)))).not.toContain('done');
      gate.release();
      await platform.untilShown(platform.chatId(direct), hasAnswer('done'));
    });

    test('in a group only a mention or a reply to the bot is answered', async () => {
      const { platform } = await connect(echo());
      const chat = platform.chatId({ chat: 'group' });
      await platform.say({ chat: 'group', text: 'not for the bot' });
      await platform.say({ ...group, text: 'for the bot' });
      const shown = await platform.untilShown(
        chat,
        (messages) => messages.length > 0 && /for the bot$/.test(texts(messages)[0] ?? ''),
      );
      const answerId = shown.at(-1)!.id;
      await platform.say({ chat: 'group', text: 'and this', replyTo: answerId, ...threadOf(shown.at(-1)!) });
      const where = platform.chatId({ chat: 'group', ...threadOf(shown.at(-1)!) });
      const after = await platform.untilShown(where, (messages) =>
        texts(messages).some((text) => /and this$/.test(text)),
      );
      expect(after.every(({ text }) => !text.includes('not for the bot'))).toBe(true);
    });

    test('another bot gets no answer, even when it mentions ours', async () => {
      const model = echo();
      const { platform } = await connect(model);
      await platform.say({ ...group, sender: 'robot', text: 'ping' });
      await platform.say({ ...direct, text: 'hello' });
      await platform.untilShown(platform.chatId(direct), hasAnswer('re: hello'));
      expect(model.requests).toHaveLength(1);
    });

    test('a stranger gets a code and nothing else', async () => {
      const model = echo();
      const { platform } = await connect(model);
      await platform.say({ ...direct, place: 'second', sender: 'bob', text: 'let me in' });
      const [answer] = await platform.untilShown(
        platform.chatId({ ...direct, place: 'second' }),
        (shown) => shown.length > 0,
      );
      expect(answer!.text).toMatch(/\b[A-Z0-9]{8}\b/);
      expect(model.requests).toHaveLength(0);
    });

    test('what comes from a thread is answered in that thread', async () => {
      const { platform } = await connect(echo());
      const parent = await platform.say({ ...group, text: 'start' });
      const main = await platform
        .untilShown(platform.chatId({ chat: 'group' }), (shown) => shown.length > 0)
        .catch(() => []);
      const thread = main[0]?.thread || parent;
      await platform.say({ ...group, thread, text: 'inside' });
      const shown = await platform.untilShown(platform.chatId({ chat: 'group', thread }), (messages) =>
        texts(messages).some((text) => /inside$/.test(text)),
      );
      expect(shown.filter(({ text }) => /inside$/.test(text.trim())).map((message) => message.thread)).toEqual([
        thread,
      ]);
    });

    test('reserved characters and markup arrive literally, bold is formatted', async () => {
      const source = '**Owner:** Ops Team <ops@example.test>, rule: a < b && c > d, cost 5_000 * 2 (approx.) - ok!';
      const { platform } = await connect(scriptedModel(() => say(source)));
      await platform.say({ ...direct, text: 'who' });
      const shown = await platform.untilShown(platform.chatId(direct), hasAnswer(source.replaceAll('**', '')));
      expect(shown).toHaveLength(1);
      expect(shown[0]!.isFormatted).toBe(true);
    });

    test('markup that the platform refuses goes once more as plain text', async () => {
      const { platform } = await connect(
        scriptedModel(() => say('**Rule:** a < b && c > d')),
        noDrafts,
      );
      platform.faults.refuseFormatting(1);
      await platform.say({ ...direct, text: 'rule?' });
      const shown = await platform.untilShown(platform.chatId(direct), (messages) =>
        messages.some(({ text }) => text.includes('a < b && c > d')),
      );
      expect(shown).toHaveLength(1);
      expect(shown[0]!.isFormatted).toBe(false);
    });

    test('a code block longer than a message becomes complete blocks of its language', async () => {
      const lines = Array.from({ length: 400 }, (_, number) => `const v${number} = compute(${number});`);
      for (const [fence, before] of [
        ['```', ''],
        ['~~~', ''],
        ['```', `${'x'.repeat(kit.maxTextLength - 30)}\n\n`],
      ]) {
        const model = scriptedModel(() => say(`${before}${fence}ts\n${lines.join('\n')}\n${fence}\n\nDone.`));
        const { platform, daemon } = await connect(model);
        await platform.say({ ...direct, text: 'code' });
        const shown = await platform.untilShown(platform.chatId(direct), (messages) =>
          /Done\.$/.test(messages.at(-1)?.text.trim() ?? ''),
        );
        const all = shown.map(({ text }) => text).join('\n');
        expect([...all.matchAll(/const v(\d+) =/g)].map((match) => Number(match[1]))).toEqual(
          lines.map((_, number) => number),
        );
        for (const message of shown) {
          expect(message.text.length).toBeLessThanOrEqual(kit.maxTextLength);
          expect(message.text).not.toMatch(/```|~~~/);
          if (message.text.includes('compute(')) expect(message.codeLanguages.length).toBeGreaterThan(0);
        }
        await daemon.stop();
      }
    });

    test('an answer grows in one message and ends complete', async () => {
      const gate = gatedModel(['The answer ', 'grows ', 'and is complete.']);
      const { platform } = await connect(gate.model);
      await platform.say({ ...direct, text: 'grow' });
      const chat = platform.chatId(direct);
      await platform.untilShown(chat, (shown) => shown.some(({ text }) => text.includes('The answer')));
      gate.release();
      const shown = await platform.untilShown(chat, hasAnswer('The answer grows and is complete.'));
      expect(shown).toHaveLength(1);
    });

    test('a rate limit is waited out in that chat alone, and the answer comes once', async () => {
      const { platform, clock } = await connect(echo());
      const limited = platform.chatId(direct);
      platform.faults.rateLimit({ chatId: limited, count: 1, waitSeconds: 30 });
      await platform.say({ ...direct, text: 'q1' });
      await platform.say({ ...direct, place: 'second', text: 'q1' });
      expect(texts(await platform.untilShown(limited, hasAnswer('re: q1')))).toEqual(['re: q1']);
      expect(
        texts(await platform.untilShown(platform.chatId({ ...direct, place: 'second' }), hasAnswer('re: q1'))),
      ).toEqual(['re: q1']);
      const own = platform.calls().filter((call) => call.chatId === limited && call.kind !== 'other');
      const refused = own.find(({ status }) => status === 429)!;
      const soon = own.filter(({ at }) => at > refused.at && at < refused.at + 30_000);
      expect(soon).toEqual([]);
      expect(clock.slept.some((ms) => ms > 25_000 && ms <= 31_000)).toBe(true);
    });

    test('a connection cut before a send: the answer comes once', async () => {
      const { platform } = await connect(echo(), noDrafts);
      platform.faults.cutNextSend('before');
      await platform.say({ ...direct, text: 'q1' });
      await platform.say({ ...direct, text: 'q2' });
      expect(texts(await platform.untilShown(platform.chatId(direct), hasAnswer('re: q2')))).toEqual([
        're: q1',
        're: q2',
      ]);
    });

    test('a connection cut after a send: the answer is not lost', async () => {
      const { platform } = await connect(echo(), noDrafts);
      platform.faults.cutNextSend('after');
      await platform.say({ ...direct, text: 'q1' });
      await platform.say({ ...direct, text: 'q2' });
      const shown = texts(await platform.untilShown(platform.chatId(direct), hasAnswer('re: q2')));
      expect(shown).toEqual(kit.isIdempotent ? ['re: q1', 're: q2'] : ['re: q1', 're: q1', 're: q2']);
    });

    test('a lost connection is taken up again, once', async () => {
      const { platform } = await connect(echo());
      await platform.say({ ...direct, text: 'q1' });
      await platform.untilShown(platform.chatId(direct), hasAnswer('re: q1'));
      await platform.faults.dropConnection();
      await platform.say({ ...direct, text: 'q2' });
      expect(texts(await platform.untilShown(platform.chatId(direct), hasAnswer('re: q2')))).toEqual([
        're: q1',
        're: q2',
      ]);
      expect(platform.openConnections()).toBeLessThanOrEqual(1);
    });

    test('refused credentials stop this channel for good, visibly, and nothing else', async () => {
      const { platform, daemon, start } = await connect(echo());
      await daemon.stop();
      platform.faults.revokeToken();
      const again = await start();
      const channels = await eventually(() => {
        const statuses = again.app.status().channels;
        return statuses.find(({ id }) => id === kit.name)?.state === 'failed' ? statuses : undefined;
      });
      const { lastError } = channels.find(({ id }) => id === kit.name)!;
      expect(lastError).toBeTruthy();
      expect(JSON.stringify(platform.config)).not.toContain(lastError!);
      expect((await again.app.submit({ text: 'still here' }, AbortSignal.timeout(10_000))).text).toBe('re: still here');
    });

    test('a turn that was running when the program stopped is answered after the restart, once', async () => {
      const gate = gatedModel(['never']);
      const { platform, daemon, start } = await connect(gate.model);
      await platform.say({ ...direct, text: 'survive' });
      await gate.called;
      await daemon.stop(0);
      await start({ model: echo() });
      const shown = await platform.untilShown(platform.chatId(direct), hasAnswer('re: survive'));
      expect(texts(shown)).toEqual(['re: survive']);
    });

    test('a file reaches the model', async () => {
      const model = echo();
      const { platform } = await connect(model);
      await platform.say({
        ...direct,
        text: 'read this',
        file: { name: 'notes.txt', mimeType: 'text/plain', bytes: Buffer.from('部署方案 is ready') },
      });
      await platform.untilShown(platform.chatId(direct), (shown) => shown.length > 0);
      expect(JSON.stringify(model.requests.at(-1)!.messages)).toContain('部署方案 is ready');
    });

    test('a web page in place of a file is not taken for the file', async () => {
      const model = scriptedModel(() => say('answered'));
      const { platform } = await connect(model);
      platform.faults.serveLoginPage();
      const png = Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        'base64',
      );
      await platform.say({ ...direct, text: 'see', file: { name: 'chart.png', mimeType: 'image/png', bytes: png } });
      await platform.untilShown(platform.chatId(direct), hasAnswer('answered'));
      const sent = JSON.stringify(model.requests.at(-1)!.messages);
      expect(sent).not.toMatch(/<html|<!doctype|"media"/i);
      expect(sent).toContain('chart.png');
    });
  });
}

function threadOf({ thread }: ShownMessage): { thread?: string } {
  return thread === '' ? {} : { thread };
}

/** What the person wrote last, without the lines that the program adds. */
function lastText(request: ModelRequest): string {
  const last = request.messages.at(-1);
  const content = last?.role === 'user' ? last.content : [];
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return text
    .replace(/<context>[\s\S]*<\/context>/, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('['))
    .at(-1)!
    .trim();
}

/** Says its first piece, waits for `release`, says the rest. */
function gatedModel(pieces: string[]): { model: Model; called: Promise<void>; release: () => void } {
  let release = () => {};
  let markCalled = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const called = new Promise<void>((resolve) => {
    markCalled = resolve;
  });
  const model: Model = {
    id: 'gated/model',
    async *stream(_request, signal): AsyncGenerator<ModelEvent> {
      const [first = '', ...rest] = pieces;
      if (rest.length > 0) yield { type: 'text-delta', text: first };
      markCalled();
      const aborted = new Promise<never>((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
      );
      await Promise.race([gate, aborted]);
      for (const text of rest.length > 0 ? rest : [first]) yield { type: 'text-delta', text };
      yield { type: 'end', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 }, model: 'gated/model' };
    },
  };
  return { model, called, release };
}

async function eventually<Value>(read: () => Value | undefined): Promise<Value> {
  for (let turns = 0; turns < 2000; turns += 1) {
    const value = read();
    if (value !== undefined) return value;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('did not happen within 10 s');
}

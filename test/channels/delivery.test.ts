import { expect, test } from 'vitest';
import type { Channel } from '../../channels/channel.js';
import { ChannelError } from '../../channels/channel-error.js';
import { createChannelManager } from '../../channels/channel-manager.js';
import { silentLogger } from '../../src/observability/log.js';
import { memoryChannel } from '../fakes/memory-channel.js';
import { say, scriptedModel } from '../fakes/scripted-model.js';
import { startDaemon } from '../harness/daemon.js';

const nextTask = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A daemon whose channel refuses sends as `failures` say, first to last; `pauses` are the waits asked for. */
async function withFailures(failures: (Error | undefined)[], options: { isIdempotent?: boolean } = {}) {
  const channel = memoryChannel(options);
  const tried: string[] = [];
  channel.onSend = (message) => {
    tried.push(message.body);
    const failure = failures.shift();
    if (failure) throw failure;
  };
  const pauses: number[] = [];
  const daemon = await startDaemon({
    model: scriptedModel((request) => say(`re: ${JSON.stringify(request.messages.at(-1)).match(/q\d/)?.[0]}`)),
    channel,
    config: { sessions: { whileBusy: 'queue' } },
    sleep: async (ms) => {
      pauses.push(ms);
      await nextTask();
    },
  });
  return { daemon, channel, tried, pauses };
}

test('a rate limit is waited out exactly as long as the platform asked', async () => {
  const limited = new ChannelError('rate-limited', 'slow down', { retryAfterMs: 42_000 });
  const { channel, pauses } = await withFailures([limited]);
  await channel.say('q1');
  expect((await channel.nextSent()).body).toBe('re: q1');
  expect(pauses).toEqual([42_000]);
});

test('other trouble is tried again after growing pauses, and later answers of the chat wait behind it', async () => {
  const cut = () => new ChannelError('temporary', 'connection cut');
  const { channel, pauses, tried } = await withFailures([cut(), cut(), cut()]);
  await channel.say('q1');
  await channel.say('q2');
  expect((await channel.nextSent()).body).toBe('re: q1');
  expect((await channel.nextSent()).body).toBe('re: q2');
  expect(pauses).toEqual([1000, 2000, 4000]);
  expect(tried).toEqual(['re: q1', 're: q1', 're: q1', 're: q1', 're: q2']);
});

test('a permanent refusal gives up that answer only', async () => {
  const { channel } = await withFailures([new ChannelError('permanent', 'chat is gone')]);
  await channel.say('q1');
  await channel.say('q2');
  expect((await channel.nextSent()).body).toBe('re: q2');
  expect(channel.sent).toHaveLength(1);
});

test('a channel that fails starts again after growing pauses; a permanent error stops only it', async () => {
  const runs: Record<string, number> = { flaky: 0, dead: 0 };
  const pauses: number[] = [];
  const stop = new AbortController();
  const channel = (id: string, run: Channel['run']): Channel => ({ id, maxTextLength: 1, run, send: async () => ({}) });
  const manager = createChannelManager({
    channels: [
      channel('flaky', async (_receive, signal) => {
        runs.flaky! += 1;
        if (runs.flaky! < 4) throw new Error('network');
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      }),
      channel('dead', async () => {
        runs.dead! += 1;
        throw new ChannelError('permanent', 'bad token');
      }),
    ],
    receive: async () => ({ duplicate: false }),
    log: silentLogger(),
    now: () => 0,
    sleep: async (ms) => {
      pauses.push(ms);
      await nextTask();
    },
  });
  const ended = manager.run(stop.signal);
  while (runs.flaky! < 4) await nextTask();
  expect(pauses).toEqual([1000, 2000, 4000]);
  expect(manager.statuses()).toEqual([
    { id: 'flaky', state: 'running', lastError: expect.any(String) },
    { id: 'dead', state: 'failed', lastError: 'bad token' },
  ]);
  stop.abort();
  await ended;
  expect(runs).toEqual({ flaky: 4, dead: 1 });
  expect(manager.statuses()[0]?.state).toBe('stopped');
});

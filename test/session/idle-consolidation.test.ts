import { expect, test } from 'vitest';
import { say, scriptedModel } from '../fakes/scripted-model.js';
import { startDaemon } from '../harness/daemon.js';

/** A clock whose timers fire when the test says so. */
function handTimers() {
  const due = new Map<() => void, number>();
  return {
    timers: {
      after(ms: number, work: () => void) {
        due.set(work, ms);
        return () => void due.delete(work);
      },
    },
    fire(ms: number) {
      for (const [work, after] of [...due]) {
        if (after !== ms) continue;
        due.delete(work);
        work();
      }
    },
    waiting: (ms: number) => [...due.values()].filter((after) => after === ms).length,
  };
}

const idleMs = 10 * 60_000;

test('a quiet dialog is looked through once; what it holds is remembered, secrets and unsure facts are not', async () => {
  const clock = handTimers();
  const proposals = [
    { key: 'home', content: 'Ann lives in Lyon', confidence: 0.9 },
    { key: 'mood', content: 'Ann may be tired', confidence: 0.2 },
    { key: 'key', content: 'the key is sk-abcdefghijklmnopqrstuvwxyz123456', confidence: 1 },
  ];
  const model = scriptedModel((request) =>
    request.system.includes('lasting facts') ? say(`Here: ${JSON.stringify(proposals)}`) : say('ok'),
  );
  const daemon = await startDaemon({
    model,
    timers: clock.timers,
    config: { memory: { idleConsolidationMinutes: 10 } },
  });
  const ask = async (text: string) => {
    await daemon.channel.say(text);
    return (await daemon.channel.nextSent()).body;
  };
  await ask('I moved to Lyon');
  await ask('and I like it');
  expect(clock.waiting(idleMs)).toBe(1);
  clock.fire(idleMs);
  await model.called(3);
  await daemon.stop(1000);
  expect(JSON.stringify(model.requests[2]!.messages)).toContain('I moved to Lyon');

  const quiet = scriptedModel(() => say('ok'));
  const next = await startDaemon({ model: quiet, workspace: daemon.workspace });
  await next.channel.say('/memory', { messageId: 'later' });
  const remembered = (await next.channel.nextSent()).body;
  expect(remembered).toContain('Ann lives in Lyon');
  expect(remembered).not.toMatch(/tired|sk-/);
});

test('it is off by default', async () => {
  const clock = handTimers();
  const daemon = await startDaemon({ model: scriptedModel(() => say('ok')), timers: clock.timers });
  await daemon.channel.say('hello');
  await daemon.channel.nextSent();
  expect(clock.waiting(0)).toBe(0);
});

import { expect, test } from 'vitest';
import { createLanes } from '../../src/session/lanes.js';

/** Lanes over items that end when the test says so. */
function controlled(options: { concurrency?: number; fail?: (item: string) => boolean } = {}) {
  const log: string[] = [];
  const open = new Map<string, () => void>();
  const lanes = createLanes<string>({
    concurrency: options.concurrency ?? 10,
    pause: async () => {},
    onError: (lane) => log.push(`error ${lane}`),
    async handle(lane, { waiting, signal }) {
      const item = waiting[0]!;
      if (options.fail?.(item)) throw new Error('no');
      waiting.shift();
      log.push(`start ${lane}/${item}`);
      await new Promise<void>((resolve) => {
        open.set(item, resolve);
        signal.addEventListener('abort', () => resolve());
      });
      log.push(`end ${item}`);
    },
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const finish = async (item: string) => {
    open.get(item)!();
    await turn();
  };
  return { lanes, log, turn, finish };
}

test('items of one lane go one after the other, other lanes side by side', async () => {
  const { lanes, log, finish } = controlled();
  lanes.push('a', '1');
  lanes.push('a', '2');
  lanes.push('b', '3');
  expect(log).toEqual(['start a/1', 'start b/3']);
  await finish('1');
  expect(log).toEqual(['start a/1', 'start b/3', 'end 1', 'start a/2']);
  await finish('2');
  await finish('3');
  expect(lanes.busyCount()).toBe(0);
});

test('no more than the configured number of lanes work at once, in the order they became ready', async () => {
  const { lanes, log, finish } = controlled({ concurrency: 2 });
  for (const lane of ['a', 'b', 'c', 'd']) lanes.push(lane, lane);
  expect(log).toEqual(['start a/a', 'start b/b']);
  await finish('b');
  expect(log.at(-1)).toBe('start c/c');
  await finish('a');
  expect(log.at(-1)).toBe('start d/d');
});

test('a failure keeps what waits, and the lane tries again', async () => {
  let failures = 2;
  const { lanes, log, turn } = controlled({ fail: () => failures-- > 0 });
  lanes.push('a', '1');
  for (let round = 0; round < 20 && log.length < 3; round += 1) await turn();
  expect(log).toEqual(['error a', 'error a', 'start a/1']);
});

test('abort ends only the lane it names and its waiting items follow', async () => {
  const { lanes, log, turn } = controlled();
  lanes.push('a', '1');
  lanes.push('a', '2');
  lanes.push('b', '3');
  expect(lanes.abort('a', new Error('stop'))).toBe(true);
  await turn();
  expect(log).toEqual(['start a/1', 'start b/3', 'end 1', 'start a/2']);
  expect(lanes.abort('nobody', new Error('stop'))).toBe(false);
});

test('draining starts nothing more and waits for what works', async () => {
  const { lanes, log, finish } = controlled();
  lanes.push('a', '1');
  lanes.push('a', '2');
  let isIdle = false;
  const idle = lanes.drain().then(() => {
    isIdle = true;
  });
  await finish('1');
  await idle;
  expect(isIdle).toBe(true);
  expect(log).toEqual(['start a/1', 'end 1']);
  expect(lanes.remaining()).toEqual(['2']);
});

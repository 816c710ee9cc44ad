import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createSegmenter, type SegmenterOptions } from '../../src/memory/segmenter.js';
import { findEngines } from '../../src/memory/segmenter-engines.js';
import type { EngineModules } from '../../src/memory/segmenter-program.js';
import { silentLogger } from '../../src/observability/log.js';
import { fakeEngine } from './fake-engine.js';

const sentence = '小明硕士毕业于中国科学院计算所';

function segmenter(options: Partial<SegmenterOptions> = {}) {
  const made = createSegmenter({ choice: 'auto', log: silentLogger(), ...options });
  onTestFinished(() => made.close());
  return made;
}

/** Timers that fire when the test says so. */
function handTimers() {
  const waiting = new Map<object, { ms: number; work: () => void }>();
  return {
    after(ms: number, work: () => void) {
      const key = {};
      waiting.set(key, { ms, work });
      return () => void waiting.delete(key);
    },
    fire(ms: number) {
      for (const [key, timer] of waiting) {
        if (timer.ms !== ms) continue;
        waiting.delete(key);
        timer.work();
      }
    },
  };
}

function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}`) || isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function untilGone(pid: number): Promise<void> {
  while (isRunning(pid)) await sleep(5);
}

test.each(['nodejieba', '@node-rs/jieba'] as const)('%s is installed, loads in a child and cuts', async (choice) => {
  const made = segmenter({ choice });
  const cut = await made.cut([sentence, '武汉市长'], { wait: true });
  expect(cut?.engine).toMatch(new RegExp(`^${choice} \\d`));
  expect(cut?.words[0]).toEqual(expect.arrayContaining(['小明', '硕士', '毕业', '中国科学院', '科学院', '计算所']));
  expect(made.state()).toMatchObject({ isLoaded: true, waiting: 0, crashes: 0 });
});

test('auto takes nodejieba where it is installed', () => {
  expect(findEngines('auto').map((engine) => engine.name)).toEqual(['nodejieba', '@node-rs/jieba']);
});

test('both engines take ten thousand characters and text that is not Chinese', async () => {
  for (const choice of ['nodejieba', '@node-rs/jieba'] as const) {
    const long = '武汉市长江大桥'.repeat(1429);
    const cut = await segmenter({ choice }).cut([long, 'ひらがな漢字', '𠮷野家'], { wait: true });
    expect(cut?.words[0]?.length).toBeGreaterThan(1429);
  }
});

test('until it is loaded it answers nothing at once, and does not block', async () => {
  const made = segmenter(fakeEngine());
  expect(await made.cut([sentence], { wait: false })).toBeUndefined();
  expect(made.state()).toMatchObject({ isLoaded: false });
  const cut = await made.cut([sentence], { wait: true });
  expect(cut?.words).toEqual([[...sentence]]);
  expect(await made.cut([sentence], { wait: false })).toEqual(cut);
});

test('nothing starts for text that needs no dictionary', async () => {
  const made = segmenter(fakeEngine());
  expect(await made.cut([], { wait: true })).toEqual({ words: [], engine: 'fake 1' });
  expect(made.state().pid).toBeUndefined();
});

test('the child ends when it has been idle, and comes back when needed', async () => {
  const timers = handTimers();
  const made = segmenter({ ...fakeEngine(), idleMs: 1234, timers });
  await made.cut([sentence], { wait: true });
  const pid = made.state().pid!;
  timers.fire(1234);
  expect(made.state()).toMatchObject({ isLoaded: false, pid: undefined });
  await untilGone(pid);
  expect((await made.cut(['你好'], { wait: true }))?.words).toEqual([['你', '好']]);
  expect(made.state().pid).not.toBe(pid);
});

test('a killed child is replaced, and what it was asked is answered', async () => {
  const made = segmenter(fakeEngine());
  await made.cut(['你好'], { wait: true });
  const pid = made.state().pid!;
  process.kill(pid, 'SIGKILL');
  const answers = await Promise.all(['一二', '三四'].map((run) => made.cut([run], { wait: true })));
  expect(answers.map((answer) => answer?.words)).toEqual([[['一', '二']], [['三', '四']]]);
  expect(made.state().crashes).toBe(1);
});

test('a text that ends the child twice is given up, others are answered', async () => {
  const made = segmenter(fakeEngine());
  const [poison, other] = await Promise.all([made.cut(['毒药'], { wait: true }), made.cut(['你好'], { wait: true })]);
  expect(poison).toBeUndefined();
  expect(other === undefined || other.words[0]?.length === 2).toBe(true);
  expect((await made.cut(['平安'], { wait: true }))?.words).toEqual([['平', '安']]);
});

test('a child that hangs is ended, and the next one answers', async () => {
  const timers = handTimers();
  const made = segmenter({ ...fakeEngine(), timers });
  await made.cut(['你好'], { wait: true });
  const hanging = made.cut(['等待'], { wait: true });
  const pid = made.state().pid!;
  timers.fire(10_000);
  await untilGone(pid);
  // Asked again by the new child, which hangs as well.
  while (!made.state().isLoaded || made.state().pid === pid) await sleep(5);
  timers.fire(10_000);
  expect(await hanging).toBeUndefined();
  expect((await made.cut(['你好'], { wait: true }))?.words).toEqual([['你', '好']]);
});

test('an engine that cannot be loaded gives way to the next one', async () => {
  const broken = { name: 'nodejieba', label: 'broken 1', module: '/nowhere/nodejieba' } as const;
  const made = segmenter({ engines: [broken, ...fakeEngine().engines] });
  expect((await made.cut(['你好'], { wait: true }))?.engine).toBe('fake 1');
  expect(made.engine()).toBe('fake 1');
});

test('an engine that ends the process while loading gives way too, and without another one there is none', async () => {
  const dying: EngineModules & { label: string } = {
    name: 'nodejieba',
    label: 'dying 1',
    module: fakeEngine("process.kill(process.pid, 'SIGABRT')").engines[0]!.module,
  };
  const made = segmenter({ engines: [dying] });
  expect(await made.cut(['你好'], { wait: true })).toBeUndefined();
  expect(made.engine()).toBeUndefined();
  expect(await made.cut(['你好'], { wait: true })).toBeUndefined();
});

test('the queue is bounded in number and in characters', async () => {
  const made = segmenter(fakeEngine());
  expect(await made.cut(['长'.repeat(2_000_001)], { wait: true })).toBeUndefined();
  const answers = await Promise.all(Array.from({ length: 502 }, () => made.cut(['你好'], { wait: true })));
  expect(answers.filter((answer) => answer === undefined)).toHaveLength(2);
  expect(made.state().waiting).toBe(0);
});

test('close ends the child, also while it loads, and answers what waits', async () => {
  const made = segmenter({ choice: 'nodejieba' });
  const waiting = made.cut([sentence], { wait: true });
  const pid = made.state().pid!;
  await made.close();
  expect(await waiting).toBeUndefined();
  expect(isAlive(pid)).toBe(false);
  expect(await made.cut([sentence], { wait: true })).toBeUndefined();
});

test('the child gets no environment', async () => {
  const made = segmenter(fakeEngine('module.exports.cutForSearch = () => Object.keys(process.env)'));
  expect((await made.cut(['你好'], { wait: true }))?.words).toEqual([[]]);
});

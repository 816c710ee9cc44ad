import { expect, test } from 'vitest';
import { recallForPrompt } from '../../src/memory/recall-for-prompt.js';
import { anna, dayMs, openMemory } from './open-memory.js';

function setUp() {
  const memory = openMemory();
  const ask = async (text: string, options: { limit?: number; tokenBudget?: number } = {}) => {
    const deps = { store: memory.store, timeZone: 'Asia/Shanghai', now: () => memory.clock.now };
    const { entries, hint } = await recallForPrompt(deps, text, [anna], { limit: 5, tokenBudget: 2000, ...options });
    return { keys: entries.map((entry) => entry.key), hint };
  };
  return { ...memory, ask };
}

test('the system tier is always there, before what matches', async () => {
  const { put, ask } = setUp();
  put('style', '回答要简短', { tier: 'system' });
  put('tea', '最喜欢的茶是龙井');
  expect((await ask('喜欢的茶')).keys).toEqual(['style', 'tea']);
  expect((await ask('something else entirely')).keys).toEqual(['style']);
  expect((await ask('喜欢的茶', { limit: 0 })).keys).toEqual(['style']);
});

test('no more than the limit of matches, best first, without timeline entries', async () => {
  const { put, ask } = setUp();
  for (let index = 0; index < 12; index++) put(`tea ${index}`, `tea number ${index} from the mountains`);
  put('summary', 'talked about tea at length, tea, tea', { category: 'timeline' });
  const { keys } = await ask('which tea?');
  expect(keys).toHaveLength(5);
  expect(keys).not.toContain('summary');
});

test("today's notes are looked at with every message, other days' when the message names them", async () => {
  const { put, ask, clock } = setUp();
  put('monday', 'met the landlord', { tier: 'daily' });
  put('monday talk', 'spoke about rent', { category: 'timeline' });
  clock.now += 2 * dayMs;
  put('today', 'dentist at four', { tier: 'daily' });
  expect((await ask('hello there')).keys).toEqual(['today']);
  expect((await ask('what happened two nights before, 2 days ago?')).keys).toEqual(['monday', 'monday talk']);
  expect((await ask('前天怎么样')).keys).toEqual(['monday', 'monday talk']);
});

test('a person or an event that the message names finds every tier', async () => {
  const { put, ask } = setUp();
  put('priya', 'Priya is vegetarian');
  put('lunch', 'Priya brought cake', { tier: 'misc' });
  expect((await ask('is Priya coming?')).keys.sort()).toEqual(['lunch', 'priya']);
});

test('the budget leaves out what does not fit and keeps what does', async () => {
  const { put, ask } = setUp();
  put('rule', 'short rule', { tier: 'system' });
  put('tea long', `tea ${'and so on '.repeat(200)}`, { importance: 1 });
  put('tea short', 'green tea with lemon and nothing else');
  expect((await ask('tea', { tokenBudget: 40 })).keys).toEqual(['rule', 'tea short']);
  expect((await ask('tea', { tokenBudget: 0 })).keys).toEqual([]);
});

test('a message that says too little gets a hint, unless something matches', async () => {
  const { put, ask } = setUp();
  put('tea', '最喜欢的茶是龙井');
  expect((await ask('继续')).hint).toMatch(/memory_recall/);
  expect((await ask('ok')).hint).toBeDefined();
  expect((await ask('茶')).hint).toBeUndefined();
  expect((await ask('请把昨天会议上讨论的预算表格发给财务部门的同事')).hint).toBeUndefined();
  expect((await ask('')).hint).toBeUndefined();
});

test('what goes into a prompt by match counts as used, what is always there does not', async () => {
  const { put, ask, store } = setUp();
  put('style', 'tea first', { tier: 'system' });
  put('tea', 'likes green tea');
  await ask('tea please');
  expect(store.get('tea', [anna])?.useCount).toBe(1);
  expect(store.get('style', [anna])?.useCount).toBe(0);
});

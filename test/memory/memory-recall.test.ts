import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anna, dayMs, listSegmenter, openMemory } from './open-memory.js';

describe('user text is never read as search syntax', () => {
  const setUp = () => {
    const memory = openMemory();
    memory.put('plan', 'ticket POL-358 about the multi-agent plan');
    return memory;
  };

  test.each(['POL-358', 'multi-agent', 'pol358', '358', 'plan ticket', 'ＰＯＬ－３５８', 'multi agent'])(
    '%s finds it',
    async (query) => {
      expect(await setUp().find(query)).toEqual(['plan']);
    },
  );

  test.each([
    '*',
    '(',
    '-',
    '',
    '   ',
    '🎉',
    '"',
    '""',
    'C++',
    "' OR 1=1 --",
    '^',
    ':',
    '\0',
    '\ud800',
    'NEAR(',
    '{key}:',
  ])('%j finds nothing and does not throw', async (query) => {
    expect(await setUp().find(query)).toEqual([]);
  });

  test.each(["don't", '"open', 'foo:bar', 'AND', 'NOT x', 'a OR b', 'plan*', '+plan', 'scope : plan', 'plan" OR "x'])(
    '%j does not throw',
    async (query) => {
      expect((await setUp().find(query)).length).toBeLessThanOrEqual(1);
    },
  );

  test('ten thousand characters do not throw, whatever they are', async () => {
    const { find } = setUp();
    for (const text of ['a ', '市长', '"', '(', 'POL-358 ', '🎉', '\n']) await find(text.repeat(10_000 / text.length));
  });

  test('any text whatever', async () => {
    const { store, put } = setUp();
    put('zh', '武汉市长出席大会');
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.string({ unit: 'grapheme' }),
          fc
            .array(
              fc.constantFrom('"', '*', '(', ')', ' AND ', ' NOT ', 'NEAR', '市', 'a', ':', '^', '-', '+', '{', '}'),
            )
            .map((list) => list.join('')),
        ),
        async (query) => {
          await store.recall(query, { scopes: [anna] });
        },
      ),
      { numRuns: 200 },
    );
  });
});

test('multi-word queries find entries that hold the words apart from each other', async () => {
  const { put, find } = openMemory();
  put('budget', 'The budget of the new project is approved by Helen');
  put('project', 'A project without any number');
  expect(await find('Helen budget')).toEqual(['budget']);
  expect((await find('budget project'))[0]).toBe('budget');
});

test.each([
  ['市长', 'zh'],
  ['长', 'zh'],
  ['武漢市長', 'zh'],
  ['出席', 'zh'],
  ['1293164', 'ticket'],
  ['sap1293164', 'ticket'],
  ['过账', 'ticket'],
  ['iphone', 'phone'],
  ['15', 'phone'],
  ['ＩＰＨＯＮＥ', 'phone'],
  ['cafe', 'accent'],
  ['CAFÉ', 'accent'],
  ['crème', 'accent'],
  ['meetings', 'stem'],
  ['c++', 'cpp'],
  ['ulti-age', 'part'],
  ['🎉', 'party'],
])('%s finds %s without a segmenter', async (query, key) => {
  const { put, find } = openMemory();
  put('zh', '武汉市长出席了机器人大会');
  put('ticket', 'SAP-1293164 是采购订单无法过账的工单');
  put('phone', '手机是iPhone15，用了两年');
  put('accent', 'Loves the crème at Café Central');
  put('stem', 'Has a meeting every Monday');
  put('cpp', '控制器代码用 C++ 写');
  put('part', 'the multi-agent plan');
  put('party', 'birthday 🎉 in June');
  expect((await find(query))[0]).toBe(key);
});

test('a word as the segmenter sees it ranks above the same characters across two words', async () => {
  const segmenter = listSegmenter(['武汉市', '长江', '大桥', '市长', '出席']);
  const { store, put, find } = openMemory({ segmenter });
  put('bridge', '武汉市长江大桥');
  put('mayor', '市长出席大会');
  await store.settled();
  expect(await find('市长')).toEqual(['mayor', 'bridge']);
});

test('important, fresh and used memories win among equals, not against a better match', async () => {
  const { store, put, find, clock } = openMemory();
  put('old', 'the train to Lyon leaves before eight');
  clock.now += 200 * dayMs;
  put('minor', 'the train to Lyon leaves before nine', { importance: 0 });
  put('fresh', 'the train to Lyon leaves before noon');
  put('major', 'the train to Lyon leaves before ten', { importance: 1 });
  put('exact', 'ticket counter opens early for the Lyon train platform seven', { importance: 0 });
  expect(await find('train Lyon leaves')).toEqual(['major', 'fresh', 'old', 'minor', 'exact']);
  expect((await find('ticket counter'))[0]).toBe('exact');
  for (let use = 0; use < 31; use++) store.markUsed([store.get('old', [anna])!]);
  expect((await find('train Lyon leaves')).slice(0, 3)).toEqual(['major', 'old', 'fresh']);
});

test('the same thing said twice is returned once, different numbers are different things', async () => {
  const { put, find } = openMemory();
  put('a', 'The user prefers green tea in the morning, without sugar', { importance: 0.9 });
  put('b', 'the user prefers green tea in the morning without sugar.');
  put('p1', 'the debug port of the first machine is 8080');
  put('p2', 'the debug port of the first machine is 8081');
  expect(await find('green tea')).toEqual(['a']);
  expect((await find('debug port')).sort()).toEqual(['p1', 'p2']);
});

test('filters by category, tier, time and session narrow what is found', async () => {
  const { store, writer, put, clock } = openMemory();
  put('a', 'tea in the garden', { category: 'timeline' });
  clock.now += 1000;
  store.store({ scope: anna, key: 'b', content: 'tea in the office', tier: 'daily' }, { ...writer, sessionId: 's1' });
  const keys = async (filter: object) => {
    const found = await store.recall('tea', { scopes: [anna], ...filter });
    return found.map((entry) => entry.key).sort();
  };
  expect(await keys({})).toEqual(['a', 'b']);
  expect(await keys({ category: 'timeline' })).toEqual(['a']);
  expect(await keys({ tier: 'daily' })).toEqual(['b']);
  expect(await keys({ since: clock.now })).toEqual(['b']);
  expect(await keys({ until: clock.now - 1 })).toEqual(['a']);
  expect(await keys({ sessionId: 's1' })).toEqual(['b']);
  expect(await keys({ limit: 1 })).toHaveLength(1);
});

test('scores are above zero and fall', async () => {
  const { store, put } = openMemory();
  put('only', 'tea');
  for (let index = 0; index < 20; index++) put(`t${index}`, `tea number ${index} ${'and more '.repeat(index)}`);
  const scores = (await store.recall('tea', { scopes: [anna], limit: 50 })).map((entry) => entry.score);
  expect(scores.length).toBeGreaterThan(10);
  expect(Math.min(...scores)).toBeGreaterThan(0);
  expect(scores).toEqual([...scores].sort((a, b) => b - a));
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxChangesPerEntry } from '../../src/memory/memory-entry.js';
import { anna, ben, dayMs, listSegmenter, openMemory } from './open-memory.js';

const codeOf = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return undefined;
};

test('the same key overwrites in its scope only, and the old content becomes history', () => {
  const { store, writer, clock, put } = openMemory();
  const id = put('pet', 'likes dogs');
  store.store({ scope: ben, key: 'pet', content: 'likes fish' }, writer);
  clock.now += 1000;
  const second = store.store(
    { scope: anna, key: 'pet', content: 'likes cats' },
    { ...writer, by: 'ui', runId: 'run_2' },
  );
  expect(second).toMatchObject({ outcome: 'replaced', entry: { id, content: 'likes cats', changedBy: 'ui' } });
  expect(store.get('pet', [ben])?.content).toBe('likes fish');
  expect(store.history('pet', [anna])).toMatchObject([
    { action: 'create', by: 'test', oldContent: null },
    { action: 'replace', by: 'ui', runId: 'run_2', oldContent: 'likes dogs', at: clock.now },
  ]);
});

test('the same content again is no change', () => {
  const { store, writer, put } = openMemory();
  put('pet', 'likes dogs');
  expect(store.store({ scope: anna, key: 'pet', content: 'likes dogs' }, writer).outcome).toBe('unchanged');
  expect(store.history('pet', [anna])).toHaveLength(1);
});

test('an overwrite keeps tier, category and importance unless it names others', () => {
  const { store, put } = openMemory();
  put('rule', 'be brief', { tier: 'system', importance: 0.9 });
  put('rule', 'be very brief');
  expect(store.get('rule', [anna])).toMatchObject({ tier: 'system', category: 'knowledge', importance: 0.9 });
});

test('replaced and deleted text is never found again, also after a restart', async () => {
  const first = openMemory();
  const { store, writer, put, find } = first;
  put('pet', 'likes dogs');
  expect(await find('dogs')).toEqual(['pet']);
  put('pet', 'likes cats');
  expect(await find('dogs')).toEqual([]);
  store.edit('pet', { content: 'likes birds' }, writer);
  expect(await find('cats')).toEqual([]);
  expect(await find('birds')).toEqual(['pet']);
  store.edit('pet', { key: 'animal' }, writer);
  expect(await find('pet')).toEqual([]);
  store.forget('animal', writer);
  expect(await find('birds')).toEqual([]);
  first.checkIndex();
  await store.close();
  first.db.close();
  const second = openMemory({ workspace: first.workspace });
  for (const word of ['dogs', 'cats', 'birds', 'pet', 'animal']) expect(await second.find(word)).toEqual([]);
  second.checkIndex();
});

test('forgetting takes every trace out of the file but that it was done', async () => {
  const { store, writer, put, db, workspace } = openMemory();
  for (let index = 0; index < 300; index++) put(`note ${index}`, `an ordinary note with the number ${index}`);
  put('xylophonekey', 'zebrafish live in aquarium seven');
  put('xylophonekey', `zebrafish moved to aquarium eight. ${'Long and zebrafish. '.repeat(390)}`);
  for (let index = 300; index < 600; index++) put(`note ${index}`, `an ordinary note with the number ${index}`);
  await store.settled();
  const { id } = store.get('xylophonekey', [anna])!;
  store.forget('xylophonekey', writer);
  expect(db.sqlite.prepare('SELECT action, by, old_content FROM memory_changes WHERE memory_id = ?').all(id)).toEqual([
    { action: 'create', by: 'test', old_content: null },
    { action: 'replace', by: 'test', old_content: null },
    { action: 'forget', by: 'test', old_content: null },
  ]);
  await store.close();
  db.close();
  const file = readFileSync(join(workspace, 'picobot.db')).toString('latin1').toLowerCase();
  // Not `toContain`: a failure would print the whole file.
  expect(['zebrafish', 'xylophonekey'].filter((word) => file.includes(word))).toEqual([]);
});

test('what is written elsewhere, or is not there, is refused with a code', () => {
  const { store, writer, put } = openMemory();
  put('pet', 'likes dogs');
  const onlyBen = { ...writer, writable: [ben] };
  expect(codeOf(() => store.store({ scope: anna, key: 'x', content: 'y' }, onlyBen))).toBe('memory_forbidden');
  expect(codeOf(() => store.edit('pet', { content: 'y' }, onlyBen))).toBe('memory_not_found');
  expect(codeOf(() => store.forget('pet', onlyBen))).toBe('memory_not_found');
  expect(store.get('pet', [anna])?.content).toBe('likes dogs');
});

test.each([
  ['no key', { key: ' ', content: 'x' }],
  ['no content', { key: 'x', content: '' }],
  ['importance above 1', { key: 'x', content: 'y', importance: 2 }],
  ['too long', { key: 'x', content: 'y'.repeat(8001) }],
])('%s is refused', (_, fields) => {
  const { store, writer } = openMemory();
  expect(codeOf(() => store.store({ scope: anna, ...fields }, writer))).toBe('memory_invalid');
});

test('a key that two scopes hold must be named by id', () => {
  const { store, writer, put } = openMemory();
  const id = put('pet', 'likes dogs');
  store.store({ scope: ben, key: 'pet', content: 'likes fish' }, writer);
  expect(codeOf(() => store.forget('pet', writer))).toBe('memory_ambiguous');
  store.forget(id, writer);
  expect(store.get('pet', [anna, ben])?.content).toBe('likes fish');
});

test('an edit may not take the key of another memory', () => {
  const { store, writer, put } = openMemory();
  put('a', 'one');
  put('b', 'two');
  expect(codeOf(() => store.edit('a', { key: 'b' }, writer))).toBe('memory_invalid');
});

test('secrets are refused on every way in, and nothing of them is kept', async () => {
  const { store, writer, put, find } = openMemory();
  const secret = 'sk-abcdefghijklmnop1234567890';
  put('service', 'uses the billing account');
  expect(codeOf(() => put('api key', secret))).toBe('secret_refused');
  expect(codeOf(() => store.edit('service', { content: `key ${secret}` }, writer))).toBe('secret_refused');
  const file = store.exportMemories([anna]);
  file.memories[0]!.content = `the password is hunter22!`;
  expect(store.importMemories(file, writer).refused).toMatchObject([{ key: 'service' }]);
  expect(await find('hunter22')).toEqual([]);
  expect(await find('abcdefghijklmnop1234567890')).toEqual([]);
});

test('the history of one memory is bounded', () => {
  const { store, put } = openMemory();
  for (let version = 0; version < maxChangesPerEntry + 20; version++) put('counter', `version ${version}`);
  const history = store.history('counter', [anna]);
  expect(history).toHaveLength(maxChangesPerEntry);
  expect(history.at(-1)?.oldContent).toBe(`version ${maxChangesPerEntry + 18}`);
});

test('lists are newest first, filtered, and paged without a gap', () => {
  const { store, clock, put } = openMemory();
  for (let index = 0; index < 25; index++) {
    put(`k${index}`, `content ${index}`, { tier: index % 5 === 0 ? 'daily' : 'important' });
    if (index % 3 === 0) clock.now += 1000;
  }
  const keys: string[] = [];
  let cursor: string | undefined;
  do {
    const page = store.list({ scopes: [anna], limit: 7, ...(cursor !== undefined && { cursor }) });
    keys.push(...page.items.map((entry) => entry.key));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  expect(keys).toEqual(Array.from({ length: 25 }, (_, index) => `k${24 - index}`));
  expect(store.list({ scopes: [anna], tier: 'daily' }).items).toHaveLength(5);
  expect(codeOf(() => store.list({ scopes: [anna], cursor: "1'; DROP" }))).toBe('memory_invalid');
});

test('an export can be imported again, into its own or another scope', async () => {
  const first = openMemory();
  first.put('城市', '住在杭州', { importance: 0.8 });
  first.put('note', 'temporary', { tier: 'misc' });
  const file: unknown = JSON.parse(JSON.stringify(first.store.exportMemories([anna])));
  const second = openMemory();
  expect(second.store.importMemories(file, second.writer)).toEqual({ stored: 2, refused: [] });
  expect(second.store.exportMemories([anna])).toEqual(file);
  expect(await second.find('杭州')).toEqual(['城市']);
  second.store.importMemories(file, second.writer, { scope: ben });
  expect(second.store.get('城市', [ben])).toMatchObject({ content: '住在杭州', importance: 0.8 });
  second.checkIndex();
  expect(codeOf(() => second.store.importMemories({ memories: [] }, second.writer))).toBe('memory_invalid');
});

test('daily entries end seven days after their day, misc after three, timeline after ninety', async () => {
  const { store, clock, put } = openMemory();
  put('meeting', 'about the budget', { tier: 'daily' });
  put('aside', 'the tram was late', { tier: 'misc' });
  put('summary', 'talked about trams', { category: 'timeline' });
  put('fact', 'lives in Lyon');
  const keysAfter = async (days: number) => {
    const at = clock.now;
    clock.now += days * dayMs;
    const keys = store
      .list({ scopes: [anna] })
      .items.map((entry) => entry.key)
      .sort();
    const gone = await store.cleanUp();
    const left = store
      .list({ scopes: [anna] })
      .items.map((entry) => entry.key)
      .sort();
    expect(left).toEqual(keys);
    clock.now = at;
    return [keys, gone];
  };
  expect(await keysAfter(2.9)).toEqual([['aside', 'fact', 'meeting', 'summary'], 0]);
  expect(await keysAfter(3)).toEqual([['fact', 'meeting', 'summary'], 1]);
  // Noon in Shanghai: seven days after the end of that day.
  expect(await keysAfter(7.4)).toEqual([['fact', 'meeting', 'summary'], 0]);
  expect(await keysAfter(7.5)).toEqual([['fact', 'summary'], 1]);
  expect(await keysAfter(90)).toEqual([['fact', 'summary'], 0]);
  expect(await keysAfter(90.01)).toEqual([['fact'], 1]);
});

test('clean-up takes all that has expired, and leaves no index entry', async () => {
  const { store, clock, put, checkIndex } = openMemory();
  for (let index = 0; index < 50; index++) put(`m${index}`, `passing thought ${index}`, { tier: 'misc' });
  await store.settled();
  clock.now += 4 * dayMs;
  put('fact', 'stays');
  expect([await store.cleanUp(), await store.cleanUp()]).toEqual([50, 0]);
  expect(store.stats()).toMatchObject({ memories: 1, vectors: 0, scopes: 1 });
  checkIndex();
});

test('a misc entry that was useful three times stays', async () => {
  const { store, clock, put, db } = openMemory();
  put('tram', 'tram line 4 is under repair', { tier: 'misc' });
  put('bus', 'bus 12 was late', { tier: 'misc' });
  for (let use = 0; use < 3; use++) await store.recall('tram', { scopes: [anna], countUse: true });
  clock.now += 4 * dayMs;
  await store.cleanUp();
  expect(store.list({ scopes: [anna] }).items).toMatchObject([{ key: 'tram', tier: 'important', useCount: 3 }]);
  expect(db.sqlite.prepare("SELECT by FROM memory_changes WHERE action = 'promote'").all()).toEqual([{ by: 'use' }]);
});

test('looking without counting leaves no mark', async () => {
  const { store, put } = openMemory();
  put('tram', 'tram line 4', { tier: 'misc' });
  await store.recall('tram', { scopes: [anna] });
  expect(store.get('tram', [anna])).toMatchObject({ useCount: 0, lastUsedAt: null });
});

test('a full scope gives up passing notes, never lasting ones, and then refuses', () => {
  const { store, writer, put, db } = openMemory();
  const fill = db.sqlite.prepare(
    `INSERT INTO memories (id, scope, key, content, category, tier, importance, changed_by, created_at, updated_at, embedded_by)
     VALUES (?, ?, ?, 'x', 'knowledge', 'important', 0.5, 'test', 1, 1, '')`,
  );
  db.transaction(() => {
    for (let index = 0; index < 9998; index++) fill.run(`f${index}`, anna, `f${index}`);
  });
  put('passing', 'a passing note', { tier: 'misc' });
  put('last', 'the last one that fits');
  put('one more', 'takes the place of the passing note');
  expect(store.get('passing', [anna])).toBeUndefined();
  expect(codeOf(() => put('too many', 'no place'))).toBe('memory_full');
  expect(store.store({ scope: ben, key: 'other', content: 'another scope has room' }, writer).outcome).toBe('created');
  expect(store.stats()).toMatchObject({ largestScope: 10_000, maxPerScope: 10_000, scopes: 2 });
});

test('the index agrees with the table after any sequence of changes', async () => {
  const words = ['市长', '武汉', 'budget', 'SAP-12', '猫', 'ｆｕｌｌ', '臺灣'];
  const change = fc.record({
    kind: fc.constantFrom('store', 'edit', 'forget', 'wait', 'age'),
    key: fc.constantFrom('a', 'b', 'c'),
    content: fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }).map((list) => list.join('，')),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 20 }), async (changes) => {
      const { store, writer, put, clock, find, checkIndex, db } = openMemory({
        segmenter: listSegmenter(['市长', '武汉']),
      });
      for (const { kind, key, content } of changes) {
        if (kind === 'store') put(key, content, { tier: 'misc' });
        else if (kind === 'wait') await store.settled();
        else if (kind === 'age') {
          clock.now += 2 * dayMs;
          await store.cleanUp();
        } else if (store.get(key, [anna]) && kind === 'edit') store.edit(key, { content }, writer);
        else if (store.get(key, [anna])) store.forget(key, writer);
      }
      await store.settled();
      checkIndex();
      const entries = store.list({ scopes: [anna] }).items;
      for (const word of words) {
        const right = entries.filter((entry) => entry.content.includes(word)).map((entry) => entry.key);
        expect((await find(word)).length > 0).toBe(right.length > 0);
        expect(right).toEqual(expect.arrayContaining(await find(word)));
      }
      db.close();
    }),
    { numRuns: 30 },
  );
});

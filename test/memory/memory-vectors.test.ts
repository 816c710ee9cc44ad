import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import type { Embedder } from '../../src/memory/memory-vectors.js';
import { ben, openMemory } from './open-memory.js';

/** Texts about the same topic lie in the same direction. */
const topics = [/wife|太太|spouse|妻子/i, /car|座驾|vehicle|汽车/i, /tea|茶/i];
function topicEmbedder(model = 'topics'): Embedder & { calls: number; fails: boolean } {
  const embedder = {
    model,
    calls: 0,
    fails: false,
    async embed(texts: readonly string[]) {
      embedder.calls += 1;
      if (embedder.fails) throw new Error('no connection');
      return texts.map((text) => [...topics.map((topic) => (topic.test(text) ? 1 : 0)), 0.05]);
    },
  };
  return embedder;
}

const vectorCount = ({ db }: ReturnType<typeof openMemory>) =>
  db.sqlite.prepare('SELECT count(*) FROM memory_vectors').pluck().get();

test('sqlite-vec is installed, so the SQL way is what the tests use', () => {
  expect(() => createRequire(import.meta.url)('sqlite-vec').getLoadablePath()).not.toThrow();
});

test('what has no word in common is found by meaning, words and meaning together first', async () => {
  const memory = openMemory({ embedder: topicEmbedder() });
  memory.put('wife', '妻子喜欢百合花');
  memory.put('car', '开一辆蓝色的汽车');
  memory.put('blue', 'the blue car of a neighbour');
  await memory.store.settled();
  expect(await memory.find('what does my spouse like')).toEqual(['wife']);
  expect((await memory.find('blue vehicle')).slice(0, 2)).toEqual(['blue', 'car']);
});

test('edited text gets a new vector, forgotten text has none', async () => {
  const memory = openMemory({ embedder: topicEmbedder() });
  memory.put('note', 'about the wife');
  await memory.store.settled();
  memory.put('note', 'about the car');
  expect(vectorCount(memory)).toBe(0);
  await memory.store.settled();
  expect(await memory.find('spouse')).toEqual([]);
  expect(await memory.find('vehicle')).toEqual(['note']);
  memory.store.forget('note', memory.writer);
  expect(vectorCount(memory)).toBe(0);
});

test('an edit or a forgetting while no model is configured leaves no old vector', async () => {
  const first = openMemory({ embedder: topicEmbedder() });
  first.put('note', 'about the wife');
  first.put('gone', 'about the car');
  await first.store.settled();
  await first.store.close();
  first.db.close();
  const second = openMemory({ workspace: first.workspace });
  second.put('note', 'about nothing');
  second.store.forget('gone', second.writer);
  expect(vectorCount(second)).toBe(0);
});

test('another model makes every vector anew', async () => {
  const first = openMemory({ embedder: topicEmbedder() });
  for (let index = 0; index < 40; index++) first.put(`k${index}`, `tea number ${index}`);
  await first.store.settled();
  await first.store.close();
  first.db.close();
  const embedder = topicEmbedder('other');
  const second = openMemory({ embedder, workspace: first.workspace });
  second.store.start();
  await second.store.settled();
  expect(embedder.calls).toBe(2);
  expect(second.db.sqlite.prepare('SELECT DISTINCT model FROM memory_vectors').pluck().all()).toEqual(['other']);
});

test('a model that cannot be reached leaves the words', async () => {
  const embedder = topicEmbedder();
  const memory = openMemory({ embedder });
  memory.put('tea', 'likes green tea');
  await memory.store.settled();
  embedder.fails = true;
  expect(await memory.find('green')).toEqual(['tea']);
  memory.put('wife', 'about the wife');
  await memory.store.settled();
  embedder.fails = false;
  memory.store.start();
  await memory.store.settled();
  expect(await memory.find('spouse')).toEqual(['wife']);
});

test('meaning stays inside the scopes', async () => {
  const memory = openMemory({ embedder: topicEmbedder() });
  memory.store.store({ scope: ben, key: 'secret', content: 'the wife of ben' }, memory.writer);
  await memory.store.settled();
  expect(await memory.find('spouse')).toEqual([]);
});

test('without sqlite-vec the same memories are found in the same order', async () => {
  const memory = openMemory({ embedder: topicEmbedder() });
  for (const [key, content] of [
    ['a', 'tea'],
    ['b', 'tea with the wife'],
    ['c', 'a car'],
  ] as const)
    memory.put(key, content);
  await memory.store.settled();
  const { sqlite } = memory.db;
  const withExtension = await memory.find('茶');
  const plain = openMemory({
    embedder: topicEmbedder(),
    workspace: memory.workspace,
    db: { ...memory.db, sqlite: withoutExtensions(sqlite) },
  });
  expect(await plain.find('茶')).toEqual(withExtension);
  expect(withExtension.length).toBeGreaterThan(1);
});

function withoutExtensions<T extends object>(sqlite: T): T {
  return new Proxy(sqlite, {
    get(target, property) {
      if (property === 'loadExtension')
        return () => {
          throw new Error('not here');
        };
      const value = Reflect.get(target, property) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

import { appendFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createDictionary } from '../../src/memory/dictionary.js';
import { anna, listSegmenter, openMemory } from './open-memory.js';

const cutBy = ({ db }: ReturnType<typeof openMemory>, key: string) =>
  db.sqlite.prepare('SELECT cut_by FROM memories WHERE key = ?').pluck().get(key);
const words = ({ db }: ReturnType<typeof openMemory>, key: string) =>
  db.sqlite
    .prepare('SELECT i.words FROM memory_index i JOIN memories m ON m.seq = i.rowid WHERE m.key = ?')
    .pluck()
    .get(key);

test('a memory is found at once, and cut by the segmenter in the background', async () => {
  const segmenter = listSegmenter(['武汉', '市长', '出席']);
  const memory = openMemory({ segmenter });
  segmenter.isReady = false;
  memory.put('visit', '武汉市长出席');
  expect(cutBy(memory, 'visit')).toBe('');
  expect(await memory.find('市长')).toEqual(['visit']);
  await memory.store.settled();
  expect(cutBy(memory, 'visit')).toBe('list 1');
  expect(words(memory, 'visit')).toBe('武汉 市长 出席');
  expect(memory.store.stats()).toMatchObject({ waitingForSegmenter: 0, engine: 'list 1' });
  memory.checkIndex();
});

test('English text never asks for the segmenter', async () => {
  const segmenter = listSegmenter([]);
  const memory = openMemory({ segmenter });
  memory.put('pet', 'likes dogs, naïve café');
  await memory.store.settled();
  expect(await memory.find('dogs')).toEqual(['pet']);
  expect(segmenter.cuts).toBe(0);
  expect(cutBy(memory, 'pet')).toBeNull();
});

test('another engine cuts everything anew in the background, in slices, also after a restart', async () => {
  const first = openMemory({ segmenter: listSegmenter(['武汉市']) });
  for (let index = 0; index < 120; index++) first.put(`k${index}`, `武汉市第${index}号`);
  await first.store.settled();
  expect(words(first, 'k7')).toBe('7 武汉市 第 号');
  await first.store.close();
  first.db.close();
  const segmenter = listSegmenter(['武汉'], 'list 2');
  const second = openMemory({ segmenter, workspace: first.workspace });
  expect(second.store.stats().waitingForSegmenter).toBe(120);
  second.store.start();
  await second.store.settled();
  expect(words(second, 'k7')).toBe('7 武汉 市 第 号');
  expect(second.store.stats().waitingForSegmenter).toBe(0);
  expect(segmenter.cuts).toBe(120 / 8);
  second.checkIndex();
});

test('without any engine nothing waits in vain, and everything is found by pairs', async () => {
  const memory = openMemory();
  memory.put('visit', '武汉市长出席');
  memory.store.start();
  await memory.store.settled();
  expect(await memory.find('市长')).toEqual(['visit']);
});

test('a memory that changes while its words are looked up keeps the newer text', async () => {
  const segmenter = listSegmenter(['旧的', '新的', '内容']);
  const { cut } = segmenter;
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let isAsked = () => {};
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  segmenter.cut = async (runs, options) => {
    isAsked();
    await held;
    return cut(runs, options);
  };
  const memory = openMemory({ segmenter });
  memory.put('changed', '旧的内容');
  memory.put('forgotten', '旧的内容二');
  await asked;
  memory.put('changed', '新的内容');
  memory.store.forget('forgotten', memory.writer);
  letGo();
  await memory.store.settled();
  expect(words(memory, 'changed')).toBe('新的 内容');
  expect(await memory.find('旧的')).toEqual([]);
  memory.checkIndex();
});

test('a word in the dictionary file counts at once and cuts anew', async () => {
  const segmenter = listSegmenter(['模型', '客服']);
  const memory = openMemory({ segmenter });
  memory.put('apart', '很大 模型客服');
  memory.put('whole', '大模型客服');
  await memory.store.settled();
  expect(words(memory, 'whole')).toBe('大 模型 客服');
  writeFileSync(memory.dictionaryFile, '# mine\n大模型 20000 n\nKubernetes\n');
  expect((await memory.find('大模型'))[0]).toBe('whole');
  memory.store.start();
  await memory.store.settled();
  expect(words(memory, 'whole')).toBe('大 模型 客服 大模型');
  expect(cutBy(memory, 'whole')).toMatch(/^list 1 \+[0-9a-f]{12}$/);
  memory.checkIndex();
});

test('words can be added to the dictionary, each once', () => {
  const { dictionaryFile } = openMemory();
  const dictionary = createDictionary(dictionaryFile);
  expect(dictionary.version()).toBe('');
  expect(dictionary.add('臺積電')).toBe(true);
  expect(dictionary.add('台积电')).toBe(false);
  expect(dictionary.add('two words')).toBe(false);
  appendFileSync(dictionaryFile, '阿卡德尔');
  expect(dictionary.add('云原生')).toBe(true);
  const version = dictionary.version();
  expect(version).not.toBe('');
  expect(dictionary.wordsIn('我在台积电做云原生，台积电')).toEqual(['台积电', '云原生']);
  expect(createDictionary(dictionaryFile).version()).toBe(version);
  expect(dictionary.wordsIn('阿卡德尔')).toEqual(['阿卡德尔']);
});

test('a key with Chinese and a content without are both found', async () => {
  const memory = openMemory({ segmenter: listSegmenter(['门禁', '密码锁']) });
  memory.put('门禁', 'ask Zhao one day before');
  await memory.store.settled();
  expect(await memory.find('门禁')).toEqual(['门禁']);
  expect(await memory.find('zhao')).toEqual(['门禁']);
  expect(memory.store.get('门禁', [anna])?.key).toBe('门禁');
});

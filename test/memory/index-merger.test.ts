import { expect, test } from 'vitest';
import { createIndexMerger } from '../../src/memory/index-merger.js';
import { checkIndex, openMemory } from './open-memory.js';

const pieces = ({ db }: ReturnType<typeof openMemory>) =>
  db.sqlite.prepare('SELECT count(DISTINCT segid) FROM memory_index_idx').pluck().get() as number;

test('an index written in many small steps is joined, and finds the same', () => {
  const memory = openMemory();
  const write = memory.db.sqlite.prepare(
    'INSERT INTO memory_index (rowid, scope, key, words, pairs) VALUES (?, ?, ?, ?, ?)',
  );
  for (let row = 1; row <= 60; row++) write.run(row, 's', 'k', `word${row} common`, '');
  expect(pieces(memory)).toBeGreaterThan(50);
  const found = () =>
    memory.db.sqlite.prepare("SELECT rowid FROM memory_index WHERE memory_index MATCH 'common OR word7'").pluck().all();
  const before = found();
  const merger = createIndexMerger(memory.db, 'memory_index');
  while (merger.step());
  const joined = pieces(memory);
  expect(joined).toBeLessThan(10);
  while (merger.compactStep());
  expect(pieces(memory)).toBeLessThanOrEqual(2);
  expect(merger.compactStep()).toBe(false);
  expect(found()).toEqual(before);
  checkIndex(memory.db);
});

test('a few new entries do not make it rewrite a large index', () => {
  const memory = openMemory();
  const write = memory.db.sqlite.prepare(
    'INSERT INTO memory_index (rowid, scope, key, words, pairs) VALUES (?, ?, ?, ?, ?)',
  );
  memory.db.transaction(() => {
    for (let row = 1; row <= 5000; row++) write.run(row, 's', 'k', `word${row} again${row % 97} and${row % 13}`, '');
  });
  for (let row = 5001; row <= 5010; row++) write.run(row, 's', 'k', `word${row}`, '');
  const merger = createIndexMerger(memory.db, 'memory_index');
  while (merger.step());
  expect(merger.compactStep()).toBe(false);
});

import { expect, test } from 'vitest';
import { type Candidate, consolidate, createConsolidator } from '../../src/memory/consolidate.js';
import { anna, ben, openMemory } from './open-memory.js';

const base = Date.UTC(2026, 10, 18, 4);
const candidate = (key: string, content: string, more: Partial<Candidate> = {}): Candidate => ({
  scope: anna,
  key,
  content,
  confidence: 0.9,
  observedAt: base,
  ...more,
});
const reasons = (plan: ReturnType<typeof consolidate>) =>
  plan.skipped.map(({ candidate: { key }, reason }) => `${key}: ${reason}`);

test('unsure, secret and repeated candidates are left out, the newest of one key stays', () => {
  const plan = consolidate(
    [
      candidate('city', 'lives in Paris'),
      candidate('city', 'lives in Lyon now', { observedAt: base + 1 }),
      candidate('pet', 'may have a dog', { confidence: 0.5 }),
      candidate('wifi', 'the password is hunter22'),
      candidate('tea', 'prefers green tea over coffee in the morning'),
      candidate('drink', 'Prefers green tea over coffee, in the morning.', { observedAt: base - 1 }),
    ],
    [],
  );
  expect(plan.store.map(({ key, content }) => [key, content])).toEqual([
    ['city', 'lives in Lyon now'],
    ['tea', 'prefers green tea over coffee in the morning'],
  ]);
  expect(reasons(plan).sort()).toEqual(['city: duplicate', 'drink: duplicate', 'pet: unsure', 'wifi: secret']);
});

function setUp() {
  const memory = openMemory();
  const consolidator = createConsolidator(memory.db, memory.store, () => memory.clock.now);
  const apply = (part: { from: number; to: number }, ...candidates: Candidate[]) =>
    consolidator.apply({ sessionId: 's1', ...part }, candidates, {
      by: 'consolidation',
      runId: 'run_c',
      writable: [anna],
    });
  return { ...memory, consolidator, apply };
}

test('a contradiction replaces the content, which stays as history', () => {
  const { put, store, apply, clock } = setUp();
  put('home', 'lives in Paris');
  clock.now += 1000;
  apply({ from: 0, to: 5 }, candidate('city', 'moved to Lyon', { replaces: 'home', observedAt: clock.now }));
  expect(store.list({ scopes: [anna] }).items).toMatchObject([
    { key: 'home', content: 'moved to Lyon', sessionId: 's1', runId: 'run_c' },
  ]);
  expect(store.history('home', [anna]).at(-1)).toMatchObject({
    by: 'consolidation',
    runId: 'run_c',
    oldContent: 'lives in Paris',
  });
});

test('what is known is not stored again, under whatever key', () => {
  const { put, store, apply } = setUp();
  put('tea', 'Prefers green tea over coffee in the morning');
  const plan = apply({ from: 0, to: 5 }, candidate('drink', 'prefers green tea over coffee in the morning'));
  expect(reasons(plan!)).toEqual(['drink: known']);
  expect(store.stats().memories).toBe(1);
});

test('a fact added while the model thought survives an older candidate of the same key', () => {
  const { put, store, apply, clock } = setUp();
  clock.now = base + 60_000;
  put('city', 'moved to Lyon');
  const plan = apply({ from: 0, to: 5 }, candidate('city', 'lives in Paris'), candidate('pet', 'has a dog called Rex'));
  expect(reasons(plan!)).toEqual(['city: older']);
  expect(store.get('city', [anna])?.content).toBe('moved to Lyon');
  expect(store.get('pet', [anna])?.content).toBe('has a dog called Rex');
});

test('a part is consolidated once, also after a restart, and the next part goes on behind it', () => {
  const { store, apply, consolidator, db, clock, put, writer } = setUp();
  expect(consolidator.consolidatedTo('s1')).toBe(0);
  expect(apply({ from: 0, to: 5 }, candidate('pet', 'has a dog called Rex'))?.store).toHaveLength(1);
  store.forget('pet', writer);
  expect(apply({ from: 0, to: 5 }, candidate('pet', 'has a dog called Rex'))).toBeUndefined();
  expect(store.get('pet', [anna])).toBeUndefined();
  const again = createConsolidator(db, store, () => clock.now);
  expect(again.consolidatedTo('s1')).toBe(5);
  expect(again.consolidatedTo('s2')).toBe(0);
  put('x', 'y');
  expect(apply({ from: 5, to: 9 }, candidate('bike', 'rides a gravel bike'))?.store).toHaveLength(1);
});

test('a crash in the middle leaves neither facts nor pointer', () => {
  const { store, consolidator, db } = setUp();
  const failing = {
    ...store,
    store: (...given: Parameters<typeof store.store>) => {
      store.store(...given);
      throw new Error('the disk is gone');
    },
  };
  const broken = createConsolidator(db, failing, () => base);
  const part = { sessionId: 's1', from: 0, to: 5 };
  expect(() => broken.apply(part, [candidate('pet', 'has a dog')], { by: 'c', writable: [anna] })).toThrow(
    'the disk is gone',
  );
  expect(store.stats().memories).toBe(0);
  expect(consolidator.consolidatedTo('s1')).toBe(0);
});

test('a candidate for a scope that the session may not write is refused', () => {
  const { store, apply } = setUp();
  const plan = apply({ from: 0, to: 5 }, candidate('pet', 'has a dog', { scope: ben }));
  expect(reasons(plan!)).toEqual(['pet: refused']);
  expect(store.stats().memories).toBe(0);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createIdentities } from '../../src/memory/identities.js';
import type { MemoryWrites } from '../../src/memory/memory-writes.js';
import { recallForPrompt } from '../../src/memory/recall-for-prompt.js';
import {
  agentScope,
  type MemoryActor,
  parseScope,
  type Scope,
  scope,
  scopeKinds,
  scopesOf,
  userScope,
} from '../../src/memory/scopes.js';
import { listSegmenter, openMemory, type TestMemory } from './open-memory.js';

const actor = (more: Partial<MemoryActor> = {}): MemoryActor => ({
  channel: 'telegram',
  chatId: '42',
  chatType: 'direct',
  userId: '42',
  role: 'member',
  sessionId: 'telegram:42:main',
  ...more,
});

test('a direct chat sees the person, the chat, the dialog and the assistant', () => {
  const { readable, writable, home } = scopesOf(actor(), createIdentities(openMemory().db));
  expect(readable).toEqual(['user:telegram:42', 'chat:telegram:42', 'session:telegram:42:main', 'agent:main']);
  expect(writable).toEqual(['user:telegram:42', 'chat:telegram:42', 'session:telegram:42:main']);
  expect(home).toBe('user:telegram:42');
});

test('a group sees nothing of a person, nor does a chat of unknown kind', () => {
  const identities = createIdentities(openMemory().db);
  const { chatType: _, ...unknown } = actor({ chatId: '-100' });
  for (const member of [actor({ chatId: '-100', chatType: 'group' }), unknown]) {
    const { readable, home } = scopesOf(member, identities);
    expect(readable).toEqual(['chat:telegram:-100', 'session:telegram:42:main', 'agent:main']);
    expect(home).toBe('chat:telegram:-100');
  }
});

test('only owners write what belongs to the assistant', () => {
  const identities = createIdentities(openMemory().db);
  expect(scopesOf(actor({ role: 'owner' }), identities).writable).toContain(agentScope);
  expect(scopesOf(actor({ role: 'stranger' }), identities).writable).not.toContain(agentScope);
});

test('project and task are seen where the actor works in one', () => {
  const { readable } = scopesOf(actor({ projectId: 'p1', taskId: 't1' }), createIdentities(openMemory().db));
  expect(readable).toEqual(expect.arrayContaining(['project:p1', 'task:t1']));
});

test('linked accounts are one person, until they are unlinked', () => {
  const identities = createIdentities(openMemory().db);
  identities.link('ann', 'telegram', '42');
  identities.link('ann', 'slack', 'U7');
  identities.link('ben', 'slack', 'U8');
  const person = () => scopesOf(actor(), identities).readable.filter((name) => name.startsWith('user:'));
  expect(person()).toEqual(['user:telegram:42', 'user:slack:U7']);
  identities.link('ben', 'slack', 'U7');
  expect(person()).toEqual(['user:telegram:42']);
  expect(identities.unlink('slack', 'U7')).toBe(true);
  expect(identities.unlink('slack', 'U7')).toBe(false);
  expect(identities.list()).toHaveLength(2);
});

test('names that contain a separator cannot pass for another account', () => {
  expect(userScope('a', 'b:c')).not.toBe(userScope('a:b', 'c'));
  expect(userScope('a', 'b%3Ac')).not.toBe(userScope('a', 'b:c'));
  expect(() => parseScope('people:1')).toThrow(/not a scope/);
  expect(() => parseScope('user:')).toThrow(/not a scope/);
  expect(parseScope('task:7')).toBe('task:7');
});

/** Every way of reading, each giving the entries it lets out. */
const readers: Record<
  string,
  (memory: TestMemory, scopes: Scope[]) => Promise<{ content: string }[]> | { content: string }[]
> = {
  'recall by words': ({ store }, scopes) => store.recall('shared 秘密 secret', { scopes, limit: 100 }),
  'recall by pairs': ({ store }, scopes) => store.recall('密', { scopes, limit: 100 }),
  'recall by substring': ({ store }, scopes) => store.recall('har', { scopes, limit: 100 }),
  'recall by meaning': ({ store }, scopes) => store.recall('zzz', { scopes, limit: 100 }),
  list: ({ store }, scopes) => store.list({ scopes }).items,
  'list of a tier': ({ store }, scopes) => store.list({ scopes, tier: 'system' }).items,
  similar: ({ store }, scopes) => store.similar('shared secret', scopes, 100),
  export: ({ store }, scopes) => store.exportMemories(scopes).memories,
  'get by key': ({ store }, scopes) => scopes.flatMap((name) => store.get('key', [name]) ?? []),
  history: ({ store }, scopes) =>
    scopes.flatMap((name) => store.history('key', [name]).map((change) => ({ content: change.oldContent ?? '' }))),
  prompt: async ({ store, clock }, scopes) =>
    (
      await recallForPrompt({ store, timeZone: 'UTC', now: () => clock.now }, '今天的 shared secret 秘密', scopes, {
        limit: 50,
        tokenBudget: 10_000,
      })
    ).entries,
};

const owners = scopeKinds.flatMap((kind) => [
  scope(kind, 'telegram:1'),
  scope(kind, 'telegram:2'),
  scope(kind, 'telegram:10'),
]);

function filled(): TestMemory {
  const embedder = { model: 'fake', embed: async (texts: readonly string[]) => texts.map(() => [1, 0]) };
  const memory = openMemory({ segmenter: listSegmenter(['秘密', '共享']), embedder });
  const writer = { by: 'test', writable: owners };
  const tiers = ['system', 'important', 'daily'] as const;
  owners.forEach((name, index) => {
    const put = (content: string) =>
      memory.store.store({ scope: name, key: 'key', content, tier: tiers[index % 3]! }, writer);
    put(`old secret of <${name}>, shared 秘密`);
    put(`the secret of <${name}>, shared 共享秘密`);
  });
  return memory;
}

test.each(Object.keys(readers))('no scope is seen through another: %s, every pair', async (name) => {
  const memory = filled();
  await memory.store.settled();
  for (const mine of owners) {
    const seen = await readers[name]!(memory, [mine]);
    for (const other of owners) {
      const isVisible = seen.some(({ content }) => content.includes(`<${other}>`));
      if (other !== mine) expect(isVisible, `${other} seen from ${mine}`).toBe(false);
    }
  }
  const everything = await readers[name]!(memory, owners);
  expect(everything.length, 'the reader reads at all').toBeGreaterThan(0);
  expect(await readers[name]!(memory, [])).toEqual([]);
});

test('no set of scopes lets anything else out, by whatever reader', async () => {
  const memory = filled();
  await memory.store.settled();
  await fc.assert(
    fc.asyncProperty(fc.subarray(owners), fc.constantFrom(...Object.keys(readers)), async (scopes, name) => {
      for (const { content } of await readers[name]!(memory, scopes)) {
        if (content !== '') expect(scopes.some((mine) => content.includes(`<${mine}>`))).toBe(true);
      }
    }),
    { numRuns: 150 },
  );
});

test('nothing is changed through another scope, by id or by key, every pair', () => {
  const memory = filled();
  const { store } = memory;
  const changes: ((
    writes: MemoryWrites,
    reference: string,
    writer: Parameters<MemoryWrites['forget']>[1],
  ) => unknown)[] = [
    (writes, reference, writer) => writes.edit(reference, { content: 'changed' }, writer),
    (writes, reference, writer) => writes.forget(reference, writer),
  ];
  for (const mine of owners) {
    for (const other of owners) {
      if (mine === other) continue;
      const { id } = store.get('key', [other])!;
      for (const change of changes)
        expect(() => change(store, id, { by: 'test', writable: [mine] })).toThrow(/There is no memory/);
      expect(() => store.store({ scope: other, key: 'key', content: 'x' }, { by: 'test', writable: [mine] })).toThrow(
        /Not allowed/,
      );
    }
  }
  expect(store.stats().memories).toBe(owners.length);
});

test('more scopes than the index can name are still kept apart', async () => {
  const { store } = openMemory();
  const many = Array.from({ length: 200 }, (_, index) => scope('chat', `c:${index}`));
  many.forEach(
    (name, index) =>
      void store.store({ scope: name, key: 'k', content: `tea number ${index}` }, { by: 't', writable: many }),
  );
  const found = await store.recall('tea', { scopes: many.slice(0, 100), limit: 100 });
  expect(found).toHaveLength(100);
  expect(found.every((entry) => many.indexOf(entry.scope) < 100)).toBe(true);
  expect(store.knownScopes()).toHaveLength(200);
});

import { expect, test } from 'vitest';
import { createIdentities } from '../../src/memory/identities.js';
import { type ToolActor, toolMemory } from '../../src/memory/tool-memory.js';
import type { MemoryAccess } from '../../src/tools/memory-tools.js';
import { ToolError } from '../../src/tools/tool.js';
import { openMemory } from './open-memory.js';

const ann: ToolActor = {
  channel: 'telegram',
  chatId: '42',
  chatType: 'direct',
  userId: '42',
  role: 'member',
  sessionId: 'telegram:42:d1',
  runId: 'run_1',
};
const group = { chatId: '-100', chatType: 'group', sessionId: 'telegram:-100:d1' } as const;
const any = { limit: 10 };

function setUp() {
  const memory = openMemory();
  const identities = createIdentities(memory.db);
  const tools = toolMemory(memory.store, identities, (message, cause) => new ToolError(message, { cause }));
  return { ...memory, identities, tools };
}

test('it is what the memory tools ask for', () => {
  const access: MemoryAccess = setUp().tools;
  expect(access).toBeDefined();
});

test('what a person tells in a direct chat is filed with the person and not seen in a group', async () => {
  const { tools, store } = setUp();
  await tools.store({ key: 'allergy', content: 'allergic to nuts' }, ann);
  expect(store.knownScopes()).toEqual(['user:telegram:42']);
  expect(await tools.recall('nuts', any, { ...ann, ...group })).toEqual([]);
  expect(await tools.recall('nuts', any, { ...ann, userId: '43', chatId: '43' })).toEqual([]);
  const [found] = await tools.recall('nuts', any, { ...ann, chatId: '42', sessionId: 'telegram:42:another' });
  expect(found).toMatchObject({
    key: 'allergy',
    changedBy: 'telegram:42',
    runId: 'run_1',
    sessionId: 'telegram:42:d1',
  });
});

test('what is told in a group stays with the group, whoever asks there', async () => {
  const { tools } = setUp();
  await tools.store({ key: 'lunch', content: 'lunch is at noon' }, { ...ann, ...group });
  expect(await tools.recall('lunch', any, { ...ann, ...group, userId: '7' })).toMatchObject([{ key: 'lunch' }]);
  expect(await tools.recall('lunch', any, ann)).toEqual([]);
});

test('a linked account sees and overwrites the same fact', async () => {
  const { tools, identities } = setUp();
  const slack: ToolActor = { ...ann, channel: 'slack', chatId: 'D1', userId: 'U1', sessionId: 'slack:D1:d1' };
  await tools.store({ key: 'city', content: 'lives in Paris' }, ann);
  expect(await tools.recall('city', any, slack)).toEqual([]);
  identities.link('ann', 'telegram', '42');
  identities.link('ann', 'slack', 'U1');
  await tools.store({ key: 'city', content: 'lives in Lyon' }, slack);
  expect(await tools.recall('city', any, ann)).toMatchObject([{ content: 'lives in Lyon' }]);
  expect(await tools.recall('city', any, slack)).toHaveLength(1);
  identities.unlink('slack', 'U1');
  expect(await tools.recall('city', any, slack)).toEqual([]);
});

test('refusals come as errors that the model can act on', async () => {
  const { tools } = setUp();
  await expect(tools.store({ key: 'key', content: 'sk-abcdefghijklmnop1234567890' }, ann)).rejects.toThrow(ToolError);
  await expect(tools.store({ key: 'key', content: 'sk-abcdefghijklmnop1234567890' }, ann)).rejects.toThrow(
    /never remembered/,
  );
  await expect(tools.forget('nothing', ann)).rejects.toThrow(/no memory "nothing"/);
});

test('timeline lists the newest without a query, and searches with one', async () => {
  const { tools, store, clock } = setUp();
  const writer = { by: 'test', writable: ['user:telegram:42' as never] };
  for (const topic of ['trams', 'tea', 'rent']) {
    clock.now += 1000;
    store.store(
      { scope: writer.writable[0]!, key: topic, content: `talked about ${topic}`, category: 'timeline' },
      writer,
    );
  }
  await tools.store({ key: 'fact', content: 'tea is green' }, ann);
  expect((await tools.timeline('', any, ann)).map((entry) => entry.key)).toEqual(['rent', 'tea', 'trams']);
  expect((await tools.timeline('tea', any, ann)).map((entry) => entry.key)).toEqual(['tea']);
});

test('forgotten is forgotten', async () => {
  const { tools } = setUp();
  await tools.store({ key: 'city', content: 'lives in Paris' }, ann);
  await tools.forget('city', ann);
  expect(await tools.recall('paris', any, ann)).toEqual([]);
});

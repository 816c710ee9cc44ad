import { expect, test } from 'vitest';
import { callTool, say, scriptedModel } from '../fakes/scripted-model.js';
import { startDaemon, type TestDaemon } from '../harness/daemon.js';

const group = { chatType: 'group', chatId: 'group' } as const;
const ann = { sender: { id: 'ann', name: 'Ann', role: 'member' } } as const;
const ben = { sender: { id: 'ben', name: 'Ben', role: 'member' } } as const;

async function ask(daemon: TestDaemon, text: string, message = {}): Promise<string> {
  await daemon.channel.say(text, message);
  return (await daemon.channel.nextSent()).body;
}

test('what is remembered in a turn is laid beside a later message that touches it, in Chinese and English', async () => {
  const model = scriptedModel((_request, number) =>
    number === 1 ? callTool('memory_store', { key: '部署', content: '部署方案是蓝绿发布 blue-green' }) : say('ok'),
  );
  const daemon = await startDaemon({ model });
  await ask(daemon, '记住部署方案');
  await ask(daemon, '下周的部署怎么做?');
  expect(JSON.stringify(model.requests.at(-1)!.messages.at(-1))).toContain('部署方案是蓝绿发布');
  await ask(daemon, 'what about Blue-Green?');
  expect(JSON.stringify(model.requests.at(-1)!.messages.at(-1))).toContain('部署方案是蓝绿发布');
});

test('a private fact is recalled for its person only, never in a group', async () => {
  const model = scriptedModel((request) => {
    const text = JSON.stringify(request.messages.at(-1));
    return text.includes('remember')
      ? callTool('memory_store', { key: 'salary', content: 'Ann earns 5000' })
      : say('ok');
  });
  const daemon = await startDaemon({ model });
  await ask(daemon, 'remember my salary', { ...ann, chatId: 'with-ann' });
  const sees = async (message: object) => {
    await ask(daemon, 'what about the salary?', message);
    return JSON.stringify(model.requests.at(-1)!.messages.at(-1)).includes('5000');
  };
  expect(await sees({ ...ann, chatId: 'with-ann' })).toBe(true);
  expect(await sees({ ...ben, chatId: 'with-ben' })).toBe(false);
  expect(await sees({ ...ann, ...group })).toBe(false);
  expect(await ask(daemon, '/memory salary', { ...ben, ...group })).not.toContain('5000');
  expect(await ask(daemon, '/memory', { ...ann, chatId: 'with-ann' })).toContain('5000');
});

test('/memory forget removes it for good', async () => {
  const model = scriptedModel((_request, number) =>
    number === 1 ? callTool('memory_store', { key: 'pet', content: 'likes dogs' }) : say('ok'),
  );
  const daemon = await startDaemon({ model });
  await ask(daemon, 'remember');
  expect(await ask(daemon, '/memory dogs')).toContain('likes dogs');
  expect(await ask(daemon, '/memory forget pet')).toContain('Forgotten');
  expect(await ask(daemon, '/memory dogs')).toContain('Nothing is remembered');
});

test('a secret is not stored, and the model is told why', async () => {
  const model = scriptedModel((_request, number) =>
    number === 1
      ? callTool('memory_store', { key: 'key', content: 'my key is sk-abcdefghijklmnopqrstuvwxyz123456' })
      : say('ok'),
  );
  const daemon = await startDaemon({ model });
  await ask(daemon, 'remember my key');
  const result = model.requests[1]!.messages.at(-1);
  expect(result).toMatchObject({ role: 'tool', isError: true });
});

test('/search finds two-character Chinese words in this chat and nothing of other chats', async () => {
  const daemon = await startDaemon({ model: scriptedModel(() => say('好的')) });
  await ask(daemon, '我们下周三上线部署方案,ticket POL-358', { chatId: 'one' });
  await ask(daemon, '别的聊天里的部署秘密', { chatId: 'two' });
  const found = await ask(daemon, '/search 部署', { chatId: 'one' });
  expect(found).toContain('**部署**');
  expect(found).not.toContain('秘密');
  expect(await ask(daemon, '/search POL-358', { chatId: 'one' })).toMatch(/POL.*358/);
  for (const odd of ['"open', '*', 'C++', 'NOT x', '(', '-', "don't"]) {
    expect(await ask(daemon, `/search ${odd}`, { chatId: 'one' })).toMatch(/Nothing was found|–|:/);
  }
});

test('a member searches only the own chat, an owner in private everywhere', async () => {
  const model = scriptedModel((request) => {
    const last = request.messages.at(-1)!;
    if (last.role === 'tool') return say('done');
    return JSON.stringify(last).includes('look') ? callTool('session_search', { query: 'pineapple' }) : say('ok');
  });
  const daemon = await startDaemon({ model });
  await ask(daemon, 'pineapple pizza', { ...ann, chatId: 'with-ann' });
  const sees = async (message: object) => {
    await ask(daemon, 'look it up', message);
    return JSON.stringify(model.requests.at(-1)!.messages.at(-1)).includes('⟦pineappl');
  };
  expect(await sees({ ...ben, chatId: 'with-ben' })).toBe(false);
  expect(await sees({ chatId: 'with-owner' })).toBe(true);
  expect(await sees({ ...group })).toBe(false);
});

test('/dump saves the dialog in the workspace, for owners', async () => {
  const daemon = await startDaemon({ model: scriptedModel(() => say('ok')) });
  await ask(daemon, 'hello');
  expect(await ask(daemon, '/dump')).toMatch(/exports\/dialog-d_\w+\.md/);
  expect(await ask(daemon, '/dump', { ...ben, ...group })).toContain('Only an owner');
});

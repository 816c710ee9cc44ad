import { expect, test } from 'vitest';
import { z } from 'zod';
import type { ModelRequest } from '../../src/providers/model.js';
import { ProviderError } from '../../src/providers/provider-error.js';
import { defineTool } from '../../src/tools/tool.js';
import { callTool, complaintAbout, fail, type Responder, say, scriptedModel } from '../fakes/scripted-model.js';
import { startDaemon } from '../harness/daemon.js';
import { tempDir } from '../temp-dir.js';

const bigTool = defineTool({
  name: 'big',
  description: 'Gives much text.',
  input: z.object({ name: z.string() }),
  isReadOnly: true,
  run: async ({ name }) => `${name}: ${'lorem ipsum dolor '.repeat(400)}`,
});
const small = { agent: { contextWindow: 8000 } };
const prefix = ({ system, tools, messages }: ModelRequest) =>
  JSON.stringify([system, tools]) + JSON.stringify(messages).slice(0, -1);
const isSummary = (request: ModelRequest) => request.tools.length === 0;

const script: Responder = (request) => {
  if (isSummary(request)) return say('They looked at big things.');
  const last = request.messages.at(-1)!;
  return last.role === 'user'
    ? callTool('big', { name: `n${request.messages.length}` }, { text: 'looking' })
    : say('seen');
};

test('a long dialog is compacted before it is too large: valid, stable between, readable and searchable as before', async () => {
  const workspace = tempDir();
  const model = scriptedModel(script);
  const daemon = await startDaemon({ model, workspace, tools: [bigTool], config: small });
  const turns = 14;
  for (let turn = 0; turn < turns; turn += 1) {
    await daemon.channel.say(`question number ${turn}`);
    expect((await daemon.channel.nextSent()).body).toContain('seen');
  }
  const requests = model.requests.filter((request) => !isSummary(request));
  expect(requests.map(complaintAbout).filter(Boolean)).toEqual([]);
  const breaks = requests.filter(
    (request, index) => index > 0 && !prefix(request).startsWith(prefix(requests[index - 1]!)),
  );
  const compactions = daemon.events.filter((event) => event.type === 'compaction');
  expect(compactions.length).toBeGreaterThan(0);
  expect(breaks.length).toBe(compactions.length);
  const newest = JSON.stringify(requests.at(-1)!.messages);
  for (let turn = 0; turn < turns; turn += 1) expect(newest).toContain(`question number ${turn}\\n`);
  const { id } = daemon.app.control.list({}).items[0]!;
  expect(daemon.app.control.messages(id, { limit: 1000 }).filter((message) => message.role === 'user')).toHaveLength(
    turns,
  );

  await daemon.stop(1000);
  const again = scriptedModel(script);
  const next = await startDaemon({ model: again, workspace, tools: [bigTool], config: small });
  await next.channel.say('after the restart', { messageId: 'later' });
  await next.channel.nextSent();
  expect(prefix(again.requests[0]!).startsWith(prefix(requests.at(-1)!))).toBe(true);
});

test('an overflow that the provider reports is compacted and sent again', async () => {
  let overflows = 0;
  const model = scriptedModel((request, number) => {
    if (isSummary(request)) return say('Earlier work.');
    const isLarge = JSON.stringify(request.messages).length > 20_000;
    if (isLarge) {
      overflows += 1;
      return fail(new ProviderError('context-too-long', 'maximum context length is 5000 tokens'));
    }
    return script(request, number);
  });
  const daemon = await startDaemon({ model, tools: [bigTool] });
  for (let turn = 0; turn < 6; turn += 1) {
    await daemon.channel.say(`question ${turn}`);
    expect((await daemon.channel.nextSent()).body).toContain('seen');
  }
  expect(overflows).toBeGreaterThan(0);
});

test('a message that is too large by itself ends with a clear answer, and the next one works', async () => {
  const model = scriptedModel((request) =>
    JSON.stringify(request.messages).length > 60_000
      ? fail(new ProviderError('context-too-long', 'too long'))
      : say('fine'),
  );
  const daemon = await startDaemon({ model });
  await daemon.channel.say('x '.repeat(40_000));
  expect((await daemon.channel.nextSent()).body).toContain('context_too_long');
  await daemon.channel.say('a short one');
  expect((await daemon.channel.nextSent()).body).toBe('fine');
});

test('/compact shortens what the model gets and says by how much', async () => {
  const model = scriptedModel(script);
  const daemon = await startDaemon({ model, tools: [bigTool] });
  for (let turn = 0; turn < 4; turn += 1) {
    await daemon.channel.say(`question ${turn}`);
    await daemon.channel.nextSent();
  }
  await daemon.channel.say('/compact');
  expect((await daemon.channel.nextSent()).body).toMatch(/about \d+ tokens instead of \d+/);
  await daemon.channel.say('and now');
  await daemon.channel.nextSent();
  const requests = model.requests.filter((request) => !isSummary(request));
  expect(JSON.stringify(requests.at(-1)).length).toBeLessThan(JSON.stringify(requests.at(-3)).length);
});

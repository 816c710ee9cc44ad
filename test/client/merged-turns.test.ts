import { expect, test } from 'vitest';
import type { SessionId } from '../../src/protocol/ids.js';
import { answerOf, framesOf, startGround, textOf, until } from './ground.js';

const dialog = 'cli_chat:terminal:default' as SessionId;
const startContent = '"content":{"model":"fake/model","attempt":1}}';

test('a cut after only one of two messages heard of their common run', async () => {
  const { server, proxy, client: open } = await startGround({ answer: undefined });
  const client = open();
  const turns = ['a', 'b'].map((id) => client.send(`message ${id}`, { messageId: id }));
  const answers = turns.map((turn) => framesOf(turn));
  await until(() => server.daemon.received.length === 2);
  // The copies of one event go out one after the other.
  proxy.cutAfterText(`"messageId":"a","runId":"run_1","eventId":1,${startContent}`);
  const run = server.daemon.begin(dialog, 2);
  run.text('one ', 'two ');
  await until(() => client.state.name !== 'open');
  run.text('three ');
  await until(() => client.state.name === 'open');
  run.step([{ callId: 'c1', name: 'clock', input: {} }]);
  run.text('four');
  run.end();
  for (const answer of answers) {
    const frames = await answer;
    expect(textOf(frames)).toBe('one two three four');
    expect(frames.filter((frame) => frame.type === 'start')).toHaveLength(1);
    expect(frames.at(-1)).toMatchObject({ type: 'end', content: { text: 'four' } });
  }
  expect(server.daemon.runCount).toBe(1);
});

test('a message whose run began unseen is told from its beginning, while another message waits', async () => {
  const { server, proxy, client: open } = await startGround({ answer: undefined });
  const client = open();
  const answer = answerOf(client.send('hello'));
  await until(() => server.daemon.received.length === 1);
  proxy.isDown = true;
  proxy.cut();
  const run = server.daemon.begin(dialog);
  run.text('a', 'b');
  run.step();
  run.text('c', 'd');
  proxy.isDown = false;
  const other = answerOf(client.send('hello', { sessionId: 'default', messageId: 'other' }));
  await until(() => server.daemon.received.length === 2);
  run.text('e');
  run.end();
  const second = server.daemon.begin(dialog);
  second.text('other');
  second.end();
  expect(await answer).toBe('abcde');
  expect(await other).toBe('other');
});

test('a message whose run began before the first look at its dialog is told from its beginning', async () => {
  const { server, proxy, client: open } = await startGround({ answer: undefined });
  const client = open();
  const answer = answerOf(client.send('hello'));
  await until(() => server.daemon.received.length === 1);
  proxy.isDown = true;
  proxy.cut();
  await until(() => client.state.name !== 'open');
  const watch = client.subscribe();
  const run = server.daemon.begin(dialog);
  run.text('a', 'b');
  run.step();
  // What a first look at the dialog tells of the run begins here.
  run.text('c');
  proxy.isDown = false;
  for await (const frame of watch) {
    expect(frame.type).toBe('sync');
    break;
  }
  run.text('d');
  run.end();
  expect(await answer).toBe('abcd');
});

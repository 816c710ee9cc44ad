import { expect, test } from 'vitest';
import { createDemoModel } from '../../src/providers/demo/demo-model.js';
import { startDaemon } from '../harness/daemon.js';

test('a message over a channel is answered over the same channel', async () => {
  const daemon = await startDaemon({ model: createDemoModel() });
  await daemon.channel.say('what is 17*23');
  const reply = await daemon.channel.nextSent();
  expect(reply.body).toContain('391');
  expect(daemon.events.map((event) => event.type)).toContain('tool-result');
});

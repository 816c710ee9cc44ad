/**
 * The built daemon with a channel to the harness's platform. It ends itself with SIGKILL at the step of a turn that
 * `CRASH_AT` names; the program itself has no such switch: it only calls the `checkpoint` it is given.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { createApp } from '../../dist/src/app.js';
import { configSchema } from '../../dist/src/config/schema.js';
import { silentLogger } from '../../dist/src/observability/log.js';
import { defineTool } from '../../dist/src/tools/tool.js';

const { CRASH_AT, PLATFORM_URL, LLM_URL, PROTOCOL, WORKSPACE, IDEMPOTENT } = process.env;
const [crashName, crashCount = '1'] = (CRASH_AT ?? '').split('#');
let seen = 0;

const checkpoint = (name) => {
  if (name !== crashName) return;
  seen += 1;
  if (seen === Number(crashCount)) process.kill(process.pid, 'SIGKILL');
};

const call = async (path, body = {}) => {
  const response = await fetch(`${PLATFORM_URL}${path}`, { method: 'POST', body: JSON.stringify(body) });
  return response.json();
};

const platform = {
  id: 'platform',
  maxTextLength: 4000,
  isIdempotent: IDEMPOTENT === 'yes',
  async run(receive, signal) {
    while (!signal.aborted) {
      for (const message of await call('/updates')) {
        await receive(message);
        await call('/acknowledge', { messageId: message.messageId });
      }
      await sleep(20, undefined, { signal }).catch(() => {});
    }
  },
  async send(message) {
    await call('/send', message);
    return {};
  },
};

const countTool = defineTool({
  name: 'count',
  description: 'Counts one up.',
  input: z.object({ label: z.string() }),
  isReadOnly: false,
  async run({ label }) {
    const { count } = await call('/tool', { label });
    return `count is ${count}`;
  },
});

const app = createApp(
  {
    config: configSchema.parse({
      agent: { model: 'test/model' },
      platforms: { test: { protocol: PROTOCOL, baseUrl: LLM_URL, apiKey: 'test-key' } },
    }),
    token: 'token-for-the-crash-harness',
    workspace: WORKSPACE,
    version: '0.0.0',
    timeZone: 'UTC',
    environmentKeys: {},
    settings: { getConfig: () => ({}), getDefaultConfig: () => ({}), saveConfig: async () => {} },
  },
  { log: silentLogger(), channels: [platform], tools: [countTool], checkpoint, withGateway: false },
);
await app.start();
process.on('SIGTERM', () => {
  void app.stop({ deadlineMs: 5000 }).then(() => process.exit(0));
});
process.send?.('ready');

/** The whole daemon in memory: real storage and bus, no port, no network, no waiting. */
import { onTestFinished } from 'vitest';
import { type App, type AppDependencies, createApp } from '../../src/app.js';
import { loadChannelSources } from '../../src/channel-sources.js';
import { type Config, configSchema } from '../../src/config/schema.js';
import { silentLogger } from '../../src/observability/log.js';
import type { AgentEvent } from '../../src/protocol/events.js';
import type { Model } from '../../src/providers/model.js';
import { type MemoryChannel, memoryChannel } from '../fakes/memory-channel.js';
import { tempDir } from '../temp-dir.js';

export interface TestDaemon {
  app: App;
  channel: MemoryChannel;
  workspace: string;
  /** Empty unless started with `withGateway`. */
  url: string;
  /** Every event published so far. */
  events: AgentEvent[];
  /** Resolves with the first event, past or future, that fits. */
  event(fits: (event: AgentEvent) => boolean): Promise<AgentEvent>;
  /** Stops it, as a restart begins. Called by itself when the test ends. */
  stop(deadlineMs?: number): Promise<void>;
}

export interface TestDaemonOptions extends Partial<Omit<AppDependencies, 'models' | 'channels'>> {
  model: Model;
  /** Platforms switched on in `config.channels` run as well. */
  config?: Record<string, unknown>;
  workspace?: string;
  channel?: MemoryChannel;
}

export async function startDaemon({
  model,
  config = {},
  workspace = tempDir(),
  channel = memoryChannel(),
  ...deps
}: TestDaemonOptions): Promise<TestDaemon> {
  const parsed = configSchema.parse(config) as Config;
  const events: AgentEvent[] = [];
  const waiters = new Set<(event: AgentEvent) => void>();
  const app = createApp(
    {
      config: parsed,
      channelSources: await loadChannelSources(parsed.channels),
      token: 'test-token-of-enough-length',
      workspace,
      version: '0.0.0-test',
      timeZone: 'UTC',
      environmentKeys: {},
      settings: { getConfig: () => ({}), getDefaultConfig: () => ({}), saveConfig: async () => {} },
    },
    {
      log: silentLogger(),
      withGateway: false,
      sleep: () => new Promise((resolve) => setImmediate(resolve)),
      models: { main: () => model, resolve: () => model, list: () => [], defaultReference: () => model.id },
      channels: [channel],
      ...deps,
    },
  );
  app.feed.subscribe((event) => {
    events.push(event);
    for (const waiter of [...waiters]) waiter(event);
  });
  const { url } = await app.start();
  const stop = (deadlineMs = 0) => app.stop({ deadlineMs });
  onTestFinished(() => stop());
  return {
    app,
    channel,
    workspace,
    url,
    events,
    stop,
    event(fits) {
      const past = events.find(fits);
      if (past) return Promise.resolve(past);
      return new Promise((resolve) => {
        const waiter = (event: AgentEvent) => {
          if (!fits(event)) return;
          waiters.delete(waiter);
          resolve(event);
        };
        waiters.add(waiter);
      });
    },
  };
}

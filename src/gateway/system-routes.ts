/** Health, metrics, status, models and configuration: read only, and nothing here ever starts a turn. */
import type { Hono } from 'hono';
import type { SettingsService } from '../protocol/settings.js';
import type { DaemonStatus } from '../protocol/status.js';
import type { HostEnv } from './http-host.js';

export interface SystemSources {
  status: () => DaemonStatus;
  /** Prometheus text. */
  metricsText: () => Promise<string>;
  settings: SettingsService;
  models: () => { id: string; name: string }[];
}

export function addSystemRoutes(routes: Hono<HostEnv>, sources: SystemSources): void {
  const { status, metricsText, settings, models } = sources;

  routes.get('/healthz', (c) => c.json({ status: 'ok' }));
  // Readable without a token, so it names states but no error texts.
  routes.get('/readyz', (c) => {
    const { state, channels } = status();
    const body = { status: state, channels: channels.map(({ id, state }) => ({ id, state })) };
    return c.json(body, state === 'ready' ? 200 : 503);
  });
  routes.get('/metrics', async (c) =>
    c.body(await metricsText(), 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }),
  );
  routes.get('/api/ping', (c) => {
    const { state, version } = status();
    return c.json({ status: state, version });
  });
  routes.get('/api/status', (c) => c.json(status()));
  routes.get('/api/models', (c) => c.json({ items: models() }));
  routes.get('/api/config', (c) => c.json(settings.getConfig() as object));
}

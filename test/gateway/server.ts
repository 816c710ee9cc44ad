/** A gateway on a free loopback port over an in-memory daemon, and a client that shows everything it got. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import type { Every } from '../../channels/every.js';
import { httpChannel } from '../../channels/http/http.js';
import { createWebSocketDoor } from '../../channels/websocket/websocket.js';
import { configSchema } from '../../src/config/schema.js';
import { createGateway, type Gateway } from '../../src/gateway/gateway.js';
import { type Logger, silentLogger } from '../../src/observability/log.js';
import type { SettingsService } from '../../src/protocol/settings.js';
import type { DaemonStatus } from '../../src/protocol/status.js';
import { createFakeControl, type FakeAnswer, type FakeControl } from '../fakes/fake-control.js';

export const token = 'a-token-of-the-tests';

export interface TestServer {
  daemon: FakeControl;
  gateway: Gateway;
  url: string;
  port: number;
  /** Lines of the log, as JSON. */
  logged: string[];
  status: DaemonStatus;
  clock: { now: number };
  /** Turns every repeating timer of this interval once. */
  tick(intervalMs: number): void;
  activeTimers(): number;
  saved: unknown[];
  /** Makes every later `saveConfig` fail. */
  refuseSaving(error: Error): void;
  /** Open sockets of this process, those of the clients included. */
  connectionCount(): number;
  stopChannels(): void;
  close(): Promise<void>;
}

export interface TestServerOptions {
  answer?: FakeAnswer | undefined;
  config?: Record<string, unknown>;
  token?: string;
  pageDir?: string;
  listen?: boolean;
}

export async function startServer(options: TestServerOptions = {}): Promise<TestServer> {
  const daemon = createFakeControl();
  if ('answer' in options) daemon.answer = options.answer;
  const logged: string[] = [];
  const log = recordingLog(logged);
  const clock = { now: 1_000_000 };
  const now = () => clock.now;
  const timers = new Set<{ intervalMs: number; action: () => void }>();
  const every: Every = (intervalMs, action) => {
    const timer = { intervalMs, action };
    timers.add(timer);
    return () => timers.delete(timer);
  };
  const saved: unknown[] = [];
  let savingError: Error | undefined;
  const settings: SettingsService = {
    getConfig: () => ({ agent: { model: 'fake/model' }, gateway: { token: '••••' } }),
    getDefaultConfig: () => ({ agent: { model: '' } }),
    async saveConfig(data) {
      if (savingError) throw savingError;
      saved.push(data);
    },
  };
  const status: DaemonStatus = {
    version: '1.2.3',
    state: 'ready',
    startedAt: 1,
    model: 'fake/model',
    channels: [{ id: 'http', state: 'running', lastError: 'a secret detail' }],
    queues: { inboundWaiting: 0, running: 0, outboundWaiting: 0 },
  };
  const models = [{ id: 'fake/model', name: 'Fake' }];
  const { control, feed } = daemon;
  let idCount = 0;
  const newId = (prefix: string) => `${prefix}_${++idCount}`;
  const isLocalChannel = (id: string) => ['http', 'websocket', 'cli_chat'].includes(id);
  const gateway = createGateway({
    config: configSchema.parse({ gateway: { port: 0, ...options.config } }).gateway,
    token: options.token ?? token,
    log,
    control,
    status: () => status,
    metricsText: async () => 'picobot_up 1\n',
    settings,
    models: () => models,
    pageDir: options.pageDir ?? '/nonexistent-page',
    now,
  });
  const door = { control, feed, isLocalChannel, now, newId, log, every };
  const channels = [
    httpChannel(door),
    ...createWebSocketDoor({ ...door, settings, models: { list: () => models }, version: '1.2.3' }),
  ];
  const running = new AbortController();
  for (const channel of channels) {
    channel.mount?.(gateway.host);
    void channel.run(daemon.receive, running.signal);
  }
  const address = options.listen === false ? { url: '', port: 0 } : await gateway.listen();
  return {
    daemon,
    gateway,
    ...address,
    logged,
    status,
    clock,
    tick: (intervalMs) => {
      for (const timer of [...timers]) if (timer.intervalMs === intervalMs) timer.action();
    },
    activeTimers: () => timers.size,
    saved,
    refuseSaving: (error) => {
      savingError = error;
    },
    connectionCount: () => process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length,
    stopChannels: () => running.abort(),
    async close() {
      running.abort();
      await gateway.close(0);
    },
  };
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** Undefined when the body is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read members that they expect to be there.
  json: any;
}

export interface CallOptions {
  method?: string;
  /** Undefined members are left out. */
  headers?: Record<string, string | undefined>;
  body?: string | Buffer | object;
  /** Null: none. Default: the right one. */
  token?: string | null;
}

export function call(server: { port: number }, path: string, options: CallOptions = {}): Promise<Answer> {
  const { body, token: given = token } = options;
  const bytes = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const headers = {
    ...(given !== null && { authorization: `Bearer ${given}` }),
    ...Object.fromEntries(Object.entries(options.headers ?? {}).filter(([, value]) => value !== undefined)),
  } as Record<string, string>;
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port: server.port,
        path,
        method: options.method ?? (bytes === undefined ? 'GET' : 'POST'),
        headers,
        agent: false,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) });
        });
      },
    );
    request.on('error', reject);
    request.end(bytes);
  });
}

/** Sends raw bytes and returns all that comes back until the server closes. */
export function sendRaw(server: { port: number }, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function recordingLog(lines: string[]): Logger {
  const write = (level: string) => (fields: Record<string, unknown>, message: string) => {
    const shown = Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? String(value) : value]);
    lines.push(JSON.stringify({ level, message, ...Object.fromEntries(shown) }));
  };
  const log: Logger = {
    ...silentLogger(),
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: () => log,
  };
  return log;
}

/** The whole configuration: the only home of defaults and of the mark "secret" (`.meta({ secret: true })`). */
import { z } from 'zod';

const secret = (description: string) => z.string().meta({ secret: true, description });

const agent = z
  .strictObject({
    model: z.string().default('').describe('platform/model; empty: the first platform with a key, else the demo model'),
    fallbacks: z.array(z.string()).default([]),
    auxiliaryModel: z.string().nullable().default(null),
    embeddingModel: z.string().nullable().default(null),
    contextWindow: z.int().min(1000).default(128_000).describe('tokens'),
    compactAt: z.number().min(0.1).max(1).default(0.7).describe('share of contextWindow'),
    hardTrimAt: z.number().min(0.1).max(1).default(0.9).describe('share of contextWindow'),
    maxSteps: z.int().min(1).max(1000).default(25).describe('model calls per turn'),
    thinking: z.enum(['off', 'low', 'medium', 'high']).default('off'),
    systemPrompt: z.string().default('').describe('added to the built-in system prompt'),
    turnTimeoutSeconds: z.int().min(1).max(86_400).default(900),
  })
  .prefault({});

const platform = z.strictObject({
  protocol: z
    .enum(['openai', 'anthropic', 'responses'])
    .optional()
    .describe('wire family; built-in platforms know theirs'),
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  apiKey: secret('key of the platform').optional(),
  headers: z.record(z.string(), secret('header value')).default({}),
  stream: z.boolean().default(true).describe('false for servers that cannot stream'),
  models: z.array(z.string()).default([]).describe('shown in model lists'),
});

/** What every channel takes beside its own keys. */
const channelBase = {
  enabled: z.boolean().default(false),
  allowFrom: z.array(z.string()).default([]).describe('user ids, or "*"'),
  owners: z.array(z.string()).default([]),
  groups: z
    .strictObject({
      mode: z.enum(['mention', 'all', 'off']).default('mention'),
      allow: z.array(z.string()).default([]).describe('chat ids, or "*"'),
    })
    .prefault({}),
  pairing: z.boolean().default(true),
  model: z.string().nullable().default(null),
};

const telegramAccount = {
  token: secret('bot token from BotFather').default(''),
  apiRoot: z.url().default('https://api.telegram.org'),
  mode: z.enum(['polling', 'webhook']).default('polling'),
};
const slackAccount = {
  botToken: secret('xoxb-…').default(''),
  appToken: secret('xapp-…').default(''),
  signingSecret: secret('signing secret').default(''),
  apiUrl: z.url().default('https://slack.com/api/'),
  mode: z.enum(['socket', 'http']).default('socket'),
};
const feishuAccount = {
  appId: z.string().default(''),
  appSecret: secret('app secret').default(''),
  domain: z.union([z.enum(['feishu', 'lark']), z.url()]).default('feishu'),
  mode: z.enum(['websocket', 'webhook']).default('websocket'),
};

/** A channel with one account in place, or several under `accounts`. */
const channel = <Shape extends z.core.$ZodLooseShape>(account: Shape) => {
  const one = { ...channelBase, ...account };
  return z
    .strictObject({ ...one, accounts: z.record(z.string(), z.strictObject(one)).default({}) })
    .prefault({} as never);
};

export const configSchema = z.strictObject({
  agent,
  platforms: z.record(z.string().regex(/^[a-z0-9][a-z0-9._-]*$/), platform).default({}),
  channels: z
    .strictObject({ telegram: channel(telegramAccount), slack: channel(slackAccount), feishu: channel(feishuAccount) })
    .prefault({}),
  gateway: z
    .strictObject({
      host: z.string().default('127.0.0.1'),
      port: z.int().min(0).max(65_535).default(18_880).describe('0: any free port'),
      token: secret('access token; empty: the one in PICOBOT_HOME/token').default(''),
      allowedOrigins: z
        .array(z.string())
        .default([])
        .describe('foreign origins that may call, e.g. https://chat.example.org'),
      allowedHosts: z
        .array(z.string())
        .default([])
        .describe('host names beside loopback and `host` that requests may name'),
      maxTextBytes: z.int().min(1024).default(1_048_576).describe('largest JSON body or text frame'),
      maxConnections: z.int().min(1).default(2000),
    })
    .prefault({}),
  memory: z
    .strictObject({
      recallLimit: z.int().min(0).max(50).default(5),
      timelineDays: z.int().min(1).default(90),
      idleConsolidationMinutes: z.int().min(0).default(0).describe('0: off'),
      segmenter: z.enum(['auto', 'nodejieba', '@node-rs/jieba']).default('auto'),
    })
    .prefault({}),
  sessions: z
    .strictObject({
      concurrency: z.int().min(1).max(1024).default(64).describe('turns that run at once'),
      whileBusy: z.enum(['collect', 'steer', 'interrupt', 'queue']).default('collect'),
      maxQueued: z.int().min(1).max(10_000).default(100).describe('waiting messages per chat'),
      language: z.enum(['auto', 'en', 'zh']).default('auto').describe('of commands and notices'),
    })
    .prefault({}),
  storage: z
    .strictObject({
      durability: z
        .enum(['process', 'power'])
        .default('process')
        .describe('process: survives any kill of the process; power: every accepted message is on the disk'),
    })
    .prefault({}),
  workspace: z.string().default('').describe('folder; empty: PICOBOT_HOME/workspace'),
  log: z
    .strictObject({ level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info') })
    .prefault({}),
  permissions: z
    .strictObject({
      mode: z.enum(['manual', 'auto', 'plan', 'accept_edits', 'dont_ask', 'bypass']).default('manual'),
      rules: z.array(z.string()).default([]),
    })
    .prefault({}),
  budget: z.strictObject({}).prefault({}),
  tools: z.strictObject({}).prefault({}),
  mcp: z.strictObject({ servers: z.record(z.string(), z.unknown()).default({}) }).prefault({}),
  skills: z.strictObject({}).prefault({}),
  browser: z.strictObject({ enabled: z.boolean().default(false) }).prefault({}),
  scheduler: z.strictObject({}).prefault({}),
});

/** Loaded, substituted and frozen. `platforms` keys are ids; secrets are plain text here and nowhere else. */
export type Config = z.output<typeof configSchema>;

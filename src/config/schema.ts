/** The whole configuration: the only home of defaults and of the mark "secret" (`.meta({ secret: true })`). */
import { z } from 'zod';

const secret = (description: string) => z.string().meta({ secret: true, description });

const agent = z
  .strictObject({
    model: z.string().default('').describe('platform/model; empty: the first platform with a key, else the demo model'),
    fallbacks: z.array(z.string()).default([]).describe('platform/model, tried in order when `model` fails'),
    auxiliaryModel: z
      .string()
      .nullable()
      .default(null)
      .describe('platform/model for titles and summaries; null: `model`'),
    transcriptionModel: z
      .string()
      .nullable()
      .default(null)
      .describe('platform/model that writes down voice messages; null: none'),
    embeddingModel: z.string().nullable().default(null).describe('platform/model for semantic recall; null: none'),
    contextWindow: z.int().min(1000).default(128_000).describe('tokens'),
    compactAt: z.number().min(0.1).max(1).default(0.7).describe('share of contextWindow'),
    hardTrimAt: z.number().min(0.1).max(1).default(0.9).describe('share of contextWindow'),
    maxSteps: z.int().min(1).max(1000).default(25).describe('model calls per turn'),
    thinking: z.enum(['off', 'low', 'medium', 'high']).default('off').describe('how much the model reasons first'),
    systemPrompt: z.string().default('').describe('added to the built-in system prompt'),
    turnTimeoutSeconds: z.int().min(1).max(86_400).default(900).describe('a turn that takes longer is ended'),
  })
  .prefault({});

const platform = z.strictObject({
  protocol: z
    .enum(['openai', 'anthropic', 'responses'])
    .optional()
    .describe('wire family; built-in platforms know theirs'),
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('root of the API, usually ending in /v1'),
  apiKey: secret('key of the platform').optional(),
  headers: z.record(z.string(), secret('header value')).default({}).describe('sent with every request'),
  stream: z.boolean().default(true).describe('false for servers that cannot stream'),
  models: z.array(z.string()).default([]).describe('shown in model lists'),
});

/** For a channel, an account or one chat of it. */
const chatSettings = {
  model: z.string().nullable().default(null).describe('platform/model that answers here; null: agent.model'),
  systemPrompt: z.string().default('').describe('added to the system prompt of new dialogs here'),
  tools: z.array(z.string()).nullable().default(null).describe('names of the tools that may be used here; null: all'),
};

/** What every channel takes beside its own keys. */
const channelBase = {
  enabled: z.boolean().default(false).describe('starts the channel'),
  allowFrom: z.array(z.string()).default([]).describe('user ids, or "*"'),
  owners: z.array(z.string()).default([]).describe('user ids that may approve and administrate'),
  groups: z
    .strictObject({
      mode: z.enum(['mention', 'all', 'off']).default('mention').describe('which messages of a group are answered'),
      allow: z.array(z.string()).default([]).describe('chat ids, or "*"'),
      keywords: z
        .array(z.string().min(1))
        .default([])
        .describe('words that call the bot as a mention does; letter case does not matter'),
      everyone: z.boolean().default(false).describe('true: a mention of everybody (@all, @channel) calls the bot too'),
      context: z
        .int()
        .min(0)
        .max(50)
        .default(10)
        .describe('unmentioned messages before a mention that the model is shown; 0: none'),
    })
    .prefault({}),
  pairing: z.boolean().default(true).describe('strangers get a code that an owner can approve'),
  streaming: z.boolean().default(true).describe('answers grow in the chat while they are written'),
  ...chatSettings,
  chats: z
    .record(z.string(), z.strictObject(chatSettings))
    .default({})
    .describe('model, systemPrompt and tools for single chats, by chat id (`chat`, or `chat/thread`)'),
};

const telegramAccount = {
  token: secret('bot token from BotFather').default(''),
  apiRoot: z.url().default('https://api.telegram.org').describe('for a Bot API server of your own'),
  mode: z.enum(['polling', 'webhook']).default('polling').describe('how updates arrive'),
  webhookUrl: z
    .union([z.url({ protocol: /^https?$/ }), z.literal('')])
    .default('')
    .describe('with mode webhook: the public address of this server, e.g. https://bot.example.org'),
  webhookSecret: secret('with mode webhook: what Telegram sends along, 1-256 of A-Z a-z 0-9 _ -').default(''),
  proxy: z.string().default('').describe('http://… proxy for all calls to Telegram; empty: none'),
};
const slackAccount = {
  botToken: secret('bot token, xoxb-…').default(''),
  appToken: secret('app-level token for socket mode, xapp-…').default(''),
  signingSecret: secret('checks requests in http mode').default(''),
  apiUrl: z.url().default('https://slack.com/api/').describe('ends in a slash'),
  mode: z.enum(['socket', 'http']).default('socket').describe('how events arrive'),
};
const feishuAccount = {
  appId: z.string().default('').describe('cli_…'),
  appSecret: secret('secret of the app').default(''),
  domain: z
    .union([z.enum(['feishu', 'lark']), z.url()])
    .default('feishu')
    .describe('feishu (China), lark (elsewhere), or the URL of a server of your own'),
  mode: z.enum(['websocket', 'webhook']).default('websocket').describe('how events arrive'),
  encryptKey: secret('with mode webhook: Encrypt Key of the event subscription').default(''),
  verificationToken: secret('with mode webhook: Verification Token of the event subscription').default(''),
};

/** A channel with one account in place, or several under `accounts`. */
const channel = <Shape extends z.core.$ZodLooseShape>(account: Shape) => {
  const one = { ...channelBase, ...account };
  return z

    .strictObject({
      ...one,
      accounts: z
        .record(z.string(), z.strictObject(one))
        .default({})
        .describe('more accounts by name; each takes the keys of the channel'),
    })
    .prefault({} as never);
};

export const configSchema = z.strictObject({
  $schema: z.string().optional().describe('for editors: the path of config/schema.json'),
  agent,
  platforms: z.record(z.string().regex(/^[a-z0-9][a-z0-9._-]*$/), platform).default({}),
  channels: z
    .strictObject({ telegram: channel(telegramAccount), slack: channel(slackAccount), feishu: channel(feishuAccount) })
    .prefault({}),
  gateway: z
    .strictObject({
      host: z.string().min(1).default('127.0.0.1').describe('address to listen on; 0.0.0.0: every network'),
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
      maxConnections: z.int().min(1).default(2000).describe('open connections at once'),
    })
    .prefault({}),
  memory: z
    .strictObject({
      recallLimit: z.int().min(0).max(50).default(5).describe('memories added to a message; 0: none'),
      timelineDays: z.int().min(1).default(90).describe('how long summaries of past talks are kept'),
      idleConsolidationMinutes: z.int().min(0).default(0).describe('quiet time before a talk is summed up; 0: off'),
      segmenter: z
        .enum(['auto', 'nodejieba', '@node-rs/jieba'])
        .default('auto')
        .describe('cuts Chinese text into words'),
    })
    .prefault({}),
  sessions: z
    .strictObject({
      concurrency: z.int().min(1).max(1024).default(64).describe('turns that run at once'),
      whileBusy: z
        .enum(['collect', 'steer', 'interrupt', 'queue'])
        .default('collect')
        .describe('what happens to messages that arrive during a turn'),
      collectWindowMs: z
        .int()
        .min(0)
        .max(60_000)
        .default(400)
        .describe('with "collect": how long a platform chat must be quiet before its messages become one turn'),
      groupDialogs: z
        .enum(['shared', 'per-user'])
        .default('shared')
        .describe('one dialog for a whole group, or one for each of its members'),
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
  workspace: z
    .string()
    .default('')
    .describe(
      'folder for the database and files; empty: PICOBOT_HOME/workspace; a relative one is meant from PICOBOT_HOME',
    ),
  log: z
    .strictObject({
      level: z
        .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
        .default('info')
        .describe('message texts appear from debug down'),
    })
    .prefault({}),
  media: z
    .strictObject({
      maxFileMb: z.number().min(0.1).max(2000).default(20).describe('larger files are not taken from a chat'),
      maxTotalMb: z.number().min(10).default(2000).describe('the oldest files go when all of them are larger'),
      keepDays: z.int().min(1).default(30).describe('how long files from and for chats are kept'),
    })
    .prefault({}),
  permissions: z
    .strictObject({
      mode: z
        .enum(['manual', 'auto', 'plan', 'accept_edits', 'dont_ask', 'bypass'])
        .default('manual')
        .describe('which tool calls ask first'),
      rules: z.array(z.string()).default([]).describe('exceptions, first match wins'),
    })
    .prefault({}),
  budget: z.strictObject({}).prefault({}).describe('no keys yet'),
  tools: z.strictObject({}).prefault({}).describe('no keys yet'),
  mcp: z
    .strictObject({ servers: z.record(z.string(), z.unknown()).default({}).describe('MCP servers by name') })
    .prefault({}),
  skills: z.strictObject({}).prefault({}).describe('no keys yet'),
  browser: z.strictObject({ enabled: z.boolean().default(false).describe('gives the agent a browser') }).prefault({}),
  scheduler: z.strictObject({}).prefault({}).describe('no keys yet'),
});

export type ChannelsConfig = Config['channels'];
type Account<Channel> = Omit<Channel, 'accounts'>;
export type TelegramConfig = Account<ChannelsConfig['telegram']>;
export type SlackConfig = Account<ChannelsConfig['slack']>;
export type FeishuConfig = Account<ChannelsConfig['feishu']>;
/** What admission and per-chat settings read of any account. */
export type AccountConfig = Pick<
  TelegramConfig,
  'allowFrom' | 'owners' | 'groups' | 'pairing' | 'model' | 'systemPrompt' | 'tools' | 'chats'
>;

/** Loaded, substituted and frozen. `platforms` keys are ids; secrets are plain text here and nowhere else. */
export type Config = z.output<typeof configSchema>;

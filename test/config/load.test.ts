import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ConfigError } from '../../src/config/config-error.js';
import { openConfig } from '../../src/config/load.js';
import { configSchema } from '../../src/config/schema.js';
import { thrownBy, useTemporaryHome } from './temporary-home.js';

const home = useTemporaryHome();
const problemsOf = (work: () => unknown) =>
  thrownBy<ConfigError>(work).problems.map(({ path, message }) => `${path}: ${message}`);

test('without a file the defaults hold, deeply frozen, and nothing is created', () => {
  rmSync(home.paths.home, { recursive: true });
  const { config, token, notices, paths } = home.load();
  expect(config).toEqual(configSchema.parse({}));
  expect(() => Object.assign(config.gateway, { port: 1 })).toThrow(TypeError);
  expect(() => config.agent.fallbacks.push('x')).toThrow(TypeError);
  expect({ token, notices }).toEqual({ token: '', notices: [] });
  expect(paths.workspace).toBe(join(home.paths.home, 'workspace'));
  expect(existsSync(home.paths.home)).toBe(false);
});

test('comments are allowed, also around an empty file', () => {
  home.write('\uFEFF// all of it\n{ /* a port */ "gateway": { "port": 4000 } } // end\n');
  expect(home.load().config.gateway.port).toBe(4000);
  home.write('// nothing yet\n');
  expect(home.load().config.gateway.port).toBe(18_880);
});

test.each([
  ['a trailing comma', '{\n  "gateway": {\n    "port": 4000, // odd\n  }\n}', 3, 17, 'comma too many'],
  ['a missing comma', '{\n  "agent": {}\n  "gateway": {}\n}', 3, 3, 'comma is missing'],
  ['a cut file', '{\n  "agent": {', 2, 13, 'closing brace is missing'],
  ['a list instead of an object', ' []', 1, 2, 'object in braces'],
  ['a key that stands twice', '{ "log": {},\n "log": {} }', 2, 2, 'second time'],
  ['a key that would change the prototype', '{ "__proto__": {} }', 1, 3, 'not allowed'],
  ['single quotes', "{ 'log': {} }", 1, 3, 'double quotes'],
])('%s is refused with its line and column', (_name, text, line, column, message) => {
  home.write(text);
  const error = thrownBy<ConfigError>(() => home.load());
  expect(error.code).toBe('config_syntax');
  expect(error.problems).toEqual([{ path: '', line, column, message: expect.stringContaining(message) }]);
  expect(error.message).toContain(`${home.paths.configFile}, line ${line}, column ${column}`);
  expect(home.read()).toBe(text);
});

test('many comments before a missing value do not hang the reader', () => {
  home.write(`{ "a": 1, ${'/* c */ '.repeat(5000)} ? }`);
  expect(thrownBy<ConfigError>(() => home.load()).code).toBe('config_syntax');
});

test('the error about a broken file names the last good copy, which was kept when the file was good', () => {
  home.write('{ "gateway": { "port": 4000 } } // good');
  home.load();
  home.write('{ "gateway": ');
  const error = thrownBy<ConfigError>(() => home.load());
  expect(error.message).toContain(home.paths.lastGoodFile);
  expect(readFileSync(home.paths.lastGoodFile, 'utf8')).toBe('{ "gateway": { "port": 4000 } } // good');
  expect(statSync(home.paths.lastGoodFile).mode & 0o777).toBe(0o600);
});

test('the last good copy is written only when the content differs', () => {
  home.write({});
  home.load();
  const first = statSync(home.paths.lastGoodFile).ino;
  home.load();
  expect(statSync(home.paths.lastGoodFile).ino).toBe(first);
});

test('an invalid file is no good copy', () => {
  home.write({ log: {} });
  home.load();
  home.write({ lgo: {} });
  thrownBy(() => home.load());
  expect(readFileSync(home.paths.lastGoodFile, 'utf8')).toContain('"log"');
});

test('a file that is not UTF-8 text, or is a folder, is refused as such', () => {
  writeFileSync(home.paths.configFile, Buffer.from([0xff, 0xfe, 0x7b, 0x00]));
  expect(thrownBy<ConfigError>(() => home.load())).toMatchObject({ code: 'config_unreadable' });
  expect(thrownBy<ConfigError>(() => home.load({ PICOBOT_CONFIG: home.folder })).message).toContain('is a folder');
});

test('every problem is reported with its path, its place, and what was expected', () => {
  home.write(`{
  "gateway": { "port": 99999, "hosts": "x" },
  "sessions": { "whileBusy": "ignore" },
  "channels": { "telegram": { "bot_token": "1" } },
  "agent": { "maxSteps": "many" },
  "port": 1,
  "platforms": { "Bad Name": {}, "x": { "baseUrl": "ftp://x", "apiKey": 5 } }
}`);
  const error = thrownBy<ConfigError>(() => home.load());
  expect(error.code).toBe('config_invalid');
  expect(error.problems.map(({ path, line, message }) => `${line} ${path}: ${message}`)).toEqual([
    '2 gateway.port: expected at most 65535, not 99999',
    '2 gateway.hosts: unknown key; did you mean "host"?',
    '3 sessions.whileBusy: expected "collect" or "steer" or "interrupt" or "queue", not "ignore"',
    '4 channels.telegram.bot_token: unknown key; did you mean "token"?',
    '5 agent.maxSteps: expected a number, not "many"',
    '6 port: unknown key; did you mean "gateway.port"?',
    expect.stringMatching(/^7 platforms\["Bad Name"\]: this name is not allowed/),
    '7 platforms.x.baseUrl: expected a URL such as https://example.org, not "ftp://x"',
    '7 platforms.x.apiKey: expected a text in double quotes',
  ]);
  for (const { path } of error.problems) expect(error.message).toContain(path);
});

test('a reference takes the variable, its default when unset or empty, and becomes a number or yes or no where one is wanted', () => {
  home.write({
    gateway: { host: '${H}', port: '${P:-4000}' },
    agent: { systemPrompt: '${A:-a}${B:-}-$${literal} $5', model: '${M:-}' },
    channels: { telegram: { enabled: '${T}', token: 'x${TOKEN}y' } },
  });
  const { config } = home.load({ H: '0.0.0.0', B: '', T: 'true', TOKEN: '${H}' });
  expect(config.gateway).toMatchObject({ host: '0.0.0.0', port: 4000 });
  expect(config.agent.systemPrompt).toBe('a-${literal} $5');
  expect(config.channels.telegram).toMatchObject({ enabled: true, token: 'x${H}y' });
});

test('an unset variable is a problem at its path, also of .env and overrides when they are wrong', () => {
  home.write({ agent: { systemPrompt: 'x ${NOPE}' }, gateway: { host: '${bad name}' } });
  expect(problemsOf(() => home.load({ PICOBOT_PORT: '70000', PICOBOT_LOG_LEVEL: 'loud' }))).toEqual([
    'PICOBOT_PORT: "70000" cannot be used for gateway.port',
    'PICOBOT_LOG_LEVEL: "loud" cannot be used for log.level',
    expect.stringContaining('agent.systemPrompt: the variable NOPE is not set'),
    expect.stringContaining('gateway.host: this is not a reference'),
  ]);
});

test('an unset variable of a platform that no model names, or of a disabled channel, leaves the default', () => {
  home.write({
    platforms: { deepseek: { apiKey: '${DEEPSEEK_API_KEY}' } },
    channels: {
      telegram: { token: '${T}', apiRoot: '${R}', accounts: { two: { token: '${U}' } } },
    },
  });
  const { config } = home.load();
  expect(config.platforms.deepseek).not.toHaveProperty('apiKey');
  expect(config.channels.telegram).toMatchObject({ token: '', apiRoot: 'https://api.telegram.org' });
});

test.each([
  ['agent.model', { agent: { model: 'deepseek/chat' } }],
  ['a fallback', { agent: { fallbacks: ['x/y', 'deepseek/chat'] } }],
  ['a channel', { channels: { slack: { model: 'deepseek/chat' } } }],
])('an unset key of a platform that %s names is a problem', (_name, more) => {
  home.write({ platforms: { deepseek: { apiKey: '${DEEPSEEK_API_KEY}' } }, ...more });
  expect(problemsOf(() => home.load())).toEqual([
    expect.stringMatching(/^platforms\.deepseek\.apiKey: .*DEEPSEEK_API_KEY/),
  ]);
});

test('an unset variable of an enabled channel or account is a problem', () => {
  home.write({
    channels: {
      telegram: { enabled: true, token: '${T}' },
      slack: { accounts: { two: { enabled: '${ON:-true}', botToken: '${U}' } } },
    },
  });
  expect(problemsOf(() => home.load())).toEqual([
    expect.stringContaining('channels.telegram.token: the variable T'),
    expect.stringContaining('channels.slack.accounts.two.botToken: the variable U'),
  ]);
});

test('substitution puts every value back exactly as it is in the environment, and text without a reference stays', () => {
  const word = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', ''));
  fc.assert(
    fc.property(word, word, word, (before, value, after) => {
      home.write({
        agent: { systemPrompt: `${before.replaceAll('${', '$${')}\${VALUE}${after.replaceAll('${', '$${')}` },
      });
      // A "$" right before a reference would make it an escape, by design.
      fc.pre(!before.endsWith('$'));
      expect(home.load({ VALUE: value }).config.agent.systemPrompt).toBe(before + value + after);
    }),
    { numRuns: 60 },
  );
});

test('.env gives variables, the real environment wins, and process.env is not touched', () => {
  writeFileSync(
    home.paths.envFile,
    '# keys\nFROM_FILE="from file"\nBOTH=file\nPICOBOT_PORT=4444\nOPENAI_API_KEY=sk-file-0123456789\n',
    {
      mode: 0o600,
    },
  );
  home.write({ agent: { systemPrompt: '${FROM_FILE} ${BOTH}' } });
  const loaded = home.load({ BOTH: 'real' }, ['OPENAI_API_KEY', 'DEEPSEEK_API_KEY']);
  expect(loaded.config.agent.systemPrompt).toBe('from file real');
  expect(loaded.config.gateway.port).toBe(4444);
  expect(loaded.environmentKeys).toEqual({ OPENAI_API_KEY: 'sk-file-0123456789' });
  expect(loaded.secrets).toContain('sk-file-0123456789');
  expect(process.env.FROM_FILE).toBeUndefined();
});

test('PICOBOT_ variables stand above the file, empty ones do not', () => {
  home.write({ gateway: { host: '::1', port: 1, token: 'from the file 0123' }, log: { level: 'warn' } });
  const env = {
    PICOBOT_HOST: '0.0.0.0',
    PICOBOT_PORT: '0',
    PICOBOT_TOKEN: 'from the environment',
    PICOBOT_LOG_LEVEL: 'debug',
  };
  const loaded = home.load(env);
  expect(loaded.config.gateway).toMatchObject({ host: '0.0.0.0', port: 0 });
  expect(loaded.token).toBe('from the environment');
  expect(loaded.config.log.level).toBe('debug');
  expect(home.load({ PICOBOT_HOST: '' }).config.gateway.host).toBe('::1');
});

test('PICOBOT_CONFIG names another file, ~ and relative workspaces are resolved', () => {
  writeFileSync(join(home.folder, 'other.json'), '{ "workspace": "~/work", "gateway": { "port": 7 } }');
  expect(home.load({ PICOBOT_CONFIG: '~/other.json' })).toMatchObject({
    config: { gateway: { port: 7 } },
    paths: { workspace: join(home.folder, 'work') },
  });
  home.write({ workspace: 'inner' });
  expect(home.load().paths.workspace).toBe(join(home.paths.home, 'inner'));
});

test('all secrets are listed: keys, headers, channel tokens, the access token, what MCP servers are given', () => {
  home.write({
    platforms: { x: { apiKey: 'key-of-x-1', headers: { Authorization: 'Bearer inner-2' } } },
    channels: { slack: { signingSecret: 'sign-3', accounts: { b: { botToken: 'bot-4' } } } },
    mcp: { servers: { m: { command: 'run', env: { GITHUB_TOKEN: 'mcp-5' } } } },
    gateway: { token: 'gate-6' },
  });
  expect(home.load().secrets.toSorted()).toEqual([
    'Bearer inner-2',
    'bot-4',
    'gate-6',
    'key-of-x-1',
    'mcp-5',
    'sign-3',
  ]);
});

test('files that others can read and a short token are pointed out, good ones are not', () => {
  home.write({ gateway: { token: 'short' } });
  chmodSync(home.paths.configFile, 0o644);
  expect(home.load().notices).toEqual([
    expect.stringContaining(`chmod 600 "${home.paths.configFile}"`),
    expect.stringContaining('fewer than 16 characters'),
  ]);
});

test('opening creates home, workspace and token, and the next opening finds the same', () => {
  rmSync(home.paths.home, { recursive: true });
  const first = openConfig({ env: home.env });
  expect(first.token).toMatch(/^[\w-]{43}$/);
  expect(first.secrets).toContain(first.token);
  expect(openConfig({ env: home.env }).token).toBe(first.token);
  expect(existsSync(first.paths.workspace)).toBe(true);
});

test('a mask that was pasted as a secret is refused', () => {
  home.write({ channels: { telegram: { token: '********' } } });
  expect(problemsOf(() => home.load())).toEqual(['channels.telegram.token: write the secret itself, not its mask']);
});

test('no error ever shows a secret', () => {
  home.write({
    channels: { telegram: { token: 5 } },
    gateway: { token: ['canary'] },
    platforms: { x: { apiKey: { canary: 1 } } },
  });
  expect(thrownBy<Error>(() => home.load()).message).not.toContain('canary');
});

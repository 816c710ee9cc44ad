import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { main } from '../../src/cli/main.js';
import { useTemporaryHome } from '../config/temporary-home.js';

const home = useTemporaryHome();
beforeEach(() => {
  for (const [name, value] of Object.entries(home.env)) vi.stubEnv(name, value);
  for (const name of ['PORT', 'HOST', 'TOKEN', 'LOG_LEVEL', 'CONFIG']) vi.stubEnv(`PICOBOT_${name}`, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

async function picobot(...argv: string[]) {
  let stdout = '';
  let stderr = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    stdout += text;
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    stderr += text;
    return true;
  });
  const code = await main(argv);
  return { code, stdout, stderr };
}

test('get prints a text bare, other values and everything as JSON, secrets masked', async () => {
  home.write({ agent: { model: 'a/b' }, channels: { telegram: { token: '12:canary' } } });
  expect(await picobot('config', 'get', 'agent.model')).toEqual({ code: 0, stdout: 'a/b\n', stderr: '' });
  expect((await picobot('config', 'get', 'agent.model', '--json')).stdout).toBe('"a/b"\n');
  expect((await picobot('config', 'get', 'gateway.port')).stdout).toBe('18880\n');
  const all = await picobot('config', 'get');
  expect(JSON.parse(all.stdout)).toMatchObject({ channels: { telegram: { token: '********' } } });
  expect(all.stdout).not.toContain('canary');
});

test('get of an unknown or unset key fails with a hint', async () => {
  expect(await picobot('config', 'get', 'gateway.prot')).toMatchObject({
    code: 1,
    stderr: 'error: There is no key gateway.prot. Did you mean "port"? (unknown_key)\n',
  });
  expect((await picobot('config', 'get', 'platforms.x')).stderr).toContain('(not_set)');
  expect((await picobot('config', 'get', 'a..b')).stderr).toContain('(invalid_path)');
});

test.each([
  ['agent.model', 'a/b', 'a/b'],
  ['gateway.port', '4000', 4000],
  ['gateway.port', '${PORT:-4001}', 4001],
  ['channels.telegram.enabled', 'true', true],
  ['channels.telegram.owners', '["1", "2"]', ['1', '2']],
  ['agent.auxiliaryModel', 'null', null],
  ['agent.systemPrompt', '5', '5'],
  ['platforms["z.ai"].baseUrl', 'https://z.test/v1', 'https://z.test/v1'],
])('set %s %s writes what the schema wants', async (path, value, expected) => {
  expect(await picobot('config', 'set', path, value, '--json')).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse((await picobot('config', 'get', path, '--json')).stdout)).toEqual(expected);
});

test('a secret is read from stdin, saved, and not printed', async () => {
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from(['12345:can', 'ary\n']) as never);
  const { code, stdout } = await picobot('config', 'set', 'channels.telegram.token', '-');
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('"********"') });
  expect(JSON.parse(home.read()).channels.telegram.token).toBe('12345:canary');
});

test('unset brings the default back', async () => {
  home.write({ gateway: { port: 4000, host: '::1' } });
  expect((await picobot('config', 'unset', 'gateway.port')).code).toBe(0);
  expect(JSON.parse(home.read())).toEqual({ gateway: { host: '::1' } });
});

test('a refused value leaves the file alone and says why', async () => {
  home.write('{}');
  for (const [path, value] of [
    ['gateway.port', 'many'],
    ['gateway.prot', '1'],
    ['agent.thinking', 'hard'],
  ] as const) {
    expect(await picobot('config', 'set', path, value), path).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^error: /),
    });
  }
  expect(home.read()).toBe('{}');
});

test('validate prints every problem, also as JSON, and its exit code says whether there are any', async () => {
  home.write({});
  expect(await picobot('config', 'validate')).toMatchObject({
    code: 0,
    stdout: `${home.paths.configFile} is valid.\n`,
  });
  home.write({ agnet: {}, gateway: { port: 'x' } });
  const { code, stderr } = await picobot('config', 'validate');
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/agnet .*"agent"[\s\S]*gateway\.port/) });
  const { stdout } = await picobot('config', 'validate', '--json');
  expect(JSON.parse(stdout)).toMatchObject({
    valid: false,
    code: 'config_invalid',
    problems: [{ path: 'agnet', line: 2 }, { path: 'gateway.port' }],
  });
});

test('a broken file stops every command that needs it, with its line and no stack', async () => {
  writeFileSync(home.paths.configFile, '{\n  "agent": {},\n}');
  for (const argv of [
    ['config', 'get'],
    ['config', 'validate'],
    ['config', 'set', 'gateway.port', '1'],
    ['start'],
    ['status'],
  ]) {
    const { code, stderr } = await picobot(...argv);
    expect({ code, stderr }, argv.join(' ')).toEqual({
      code: 1,
      stderr: expect.stringContaining('config.json, line 2, column 14'),
    });
    expect(stderr).not.toContain('    at ');
  }
  expect(readFileSync(home.paths.configFile, 'utf8')).toBe('{\n  "agent": {},\n}');
  expect(existsSync(home.paths.tokenFile)).toBe(false);
});

test('schema prints the JSON schema', async () => {
  expect(JSON.parse((await picobot('config', 'schema')).stdout)).toMatchObject({
    type: 'object',
    additionalProperties: false,
  });
});

test('wrong use ends with 2, help and version with 0', async () => {
  for (const argv of [
    ['bogus'],
    ['config', 'get', 'a', 'b'],
    ['config', 'set', 'a'],
    ['start', '--nope'],
    [],
    ['config'],
  ]) {
    expect((await picobot(...argv)).code, argv.join(' ')).toBe(2);
  }
  for (const argv of [
    ['--help'],
    ['config', '--help'],
    ['config', 'set', '--help'],
    ['start', '--help'],
    ['--version'],
    ['help'],
  ]) {
    expect((await picobot(...argv)).code, argv.join(' ')).toBe(0);
  }
});

test('status before the first start, and without a daemon, says what to do', async () => {
  expect((await picobot('status')).stderr).toContain('(not_set_up)');
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  closed.close();
  home.write({ gateway: { port, token: 'token-of-the-test' } });
  expect((await picobot('status')).stderr).toContain('(not_running)');
});

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parse } from 'jsonc-parser';
import ts from 'typescript';
import { expect, test, vi } from 'vitest';
import type { ConfigError } from '../../src/config/config-error.js';
import { editText } from '../../src/config/edit-text.js';
import { maskSecrets } from '../../src/config/mask.js';
import { saveConfig, setConfigValue } from '../../src/config/write.js';
import { thrownBy, useTemporaryHome } from './temporary-home.js';

const home = useTemporaryHome();
const options = (more: Record<string, string> = {}) => ({ env: { ...home.env, ...more } });
const set = (path: (string | number)[], value: unknown) => setConfigValue(home.paths, path, value, options());

const commented = `// My bot
{
    "agent": {
        "model": "deepseek/deepseek-chat", // cheap
        "fallbacks": ["local/\${FALLBACK:-qwen}", "x/y"]
    },
    /* keys come from the environment */
    "platforms": {
        "deepseek": { "apiKey": "\${DEEPSEEK_API_KEY:-none}" } // the only one
    }
}
`;

test('a value is set, all comments, references and the layout stay', () => {
  home.write(commented);
  set(['agent', 'maxSteps'], 5);
  set(['platforms', 'deepseek', 'stream'], false);
  set(['gateway', 'port'], 4000);
  expect(home.read()).toBe(`// My bot
{
    "agent": {
        "model": "deepseek/deepseek-chat", // cheap
        "fallbacks": ["local/\${FALLBACK:-qwen}", "x/y"],
        "maxSteps": 5
    },
    /* keys come from the environment */
    "platforms": {
        "deepseek": { "apiKey": "\${DEEPSEEK_API_KEY:-none}", "stream": false } // the only one
    },
    "gateway": {
        "port": 4000
    }
}
`);
});

test('a value is replaced and removed in place', () => {
  home.write(commented);
  set(['agent', 'model'], 'x/y');
  set(['agent', 'fallbacks'], undefined);
  set(['agent', 'maxSteps'], undefined);
  expect(home.read()).toContain('"model": "x/y" // cheap\n    },');
  expect(home.read()).not.toContain('fallbacks');
});

test('the first value makes the file, for its owner only', () => {
  expect(set(['gateway', 'port'], 4000).config.gateway.port).toBe(4000);
  expect(JSON.parse(home.read())).toEqual({ gateway: { port: 4000 } });
  expect(statSync(home.paths.configFile).mode & 0o777).toBe(0o600);
});

test('a reference is written as it stands and resolved when it is read', () => {
  const loaded = setConfigValue(home.paths, ['gateway', 'host'], '${HOST_NAME}', options({ HOST_NAME: '::1' }));
  expect(loaded.config.gateway.host).toBe('::1');
  expect(home.read()).toContain('"${HOST_NAME}"');
});

test.each([
  [['gateway', 'port'], 'many', 'gateway.port: expected a number'],
  [['gateway', 'prot'], 1, 'did you mean "port"'],
  [['gateway', 'host'], '${NOT_SET}', 'NOT_SET is not set'],
  [['gateway', 'token'], { a: 1 }, 'gateway.token: expected a text'],
])('%j = %j is refused before anything is written', (path, value, message) => {
  home.write(commented);
  const error = thrownBy<ConfigError>(() => set(path, value));
  expect(error).toMatchObject({ code: 'config_invalid', message: expect.stringContaining(message) });
  expect(error.message).toContain('Nothing was saved');
  expect(home.read()).toBe(commented);
});

test('a broken file is never overwritten', () => {
  const broken = '{ "agent": { "maxSteps": 5, } }';
  home.write(broken);
  expect(thrownBy<ConfigError>(() => set(['gateway', 'port'], 1)).code).toBe('config_syntax');
  expect(thrownBy<ConfigError>(() => saveConfig(home.paths, { gateway: { port: 1 } }, options())).code).toBe(
    'config_syntax',
  );
  expect(home.read()).toBe(broken);
});

test('a wrong value in the file can be mended by setting it', () => {
  home.write({ gateway: { port: 'many' } });
  expect(set(['gateway', 'port'], 4000).config.gateway.port).toBe(4000);
});

test('what a client was shown can be saved again and changes nothing, secrets and references included', () => {
  home.write(commented);
  const env = { DEEPSEEK_API_KEY: 'sk-0123456789', PICOBOT_PORT: '4444' };
  const { config } = home.load(env);
  saveConfig(home.paths, maskSecrets(structuredClone(config)), options(env));
  expect(home.read()).toBe(commented);
});

test('a save writes only what differs, keeps masked secrets and the references of a changed list', () => {
  home.write(commented);
  const env = { DEEPSEEK_API_KEY: 'sk-0123456789', FALLBACK: 'llama' };
  const shown = maskSecrets(structuredClone(home.load(env).config));
  shown.agent.fallbacks = ['new/one', ...shown.agent.fallbacks];
  shown.platforms.deepseek!.stream = false;
  shown.channels.telegram.token = '12:abc';
  const { config } = saveConfig(home.paths, shown, options(env));
  expect(config.agent.fallbacks).toEqual(['new/one', 'local/llama', 'x/y']);
  expect(config.platforms.deepseek).toMatchObject({ apiKey: 'sk-0123456789', stream: false });
  expect(parse(home.read())).toEqual({
    agent: { model: 'deepseek/deepseek-chat', fallbacks: ['new/one', 'local/${FALLBACK:-qwen}', 'x/y'] },
    platforms: { deepseek: { apiKey: '${DEEPSEEK_API_KEY:-none}', stream: false } },
    channels: { telegram: { token: '12:abc' } },
  });
  expect(home.read()).toContain('/* keys come from the environment */');
});

test('a save of a part leaves the rest, null removes where it is no value', () => {
  home.write({
    agent: { auxiliaryModel: 'a/b', maxSteps: 3 },
    platforms: { x: { apiKey: 'k' }, y: {} },
    log: { level: 'warn' },
  });
  saveConfig(home.paths, { agent: { auxiliaryModel: null, maxSteps: null }, platforms: { x: null } }, options());
  expect(JSON.parse(home.read())).toEqual({
    agent: { auxiliaryModel: null },
    platforms: { y: {} },
    log: { level: 'warn' },
  });
});

test('a mask without a secret behind it is refused', () => {
  home.write({});
  const save = () => saveConfig(home.paths, { platforms: { x: { apiKey: '********' } } }, options());
  expect(thrownBy<Error>(save).message).toContain('platforms.x.apiKey: write the secret itself');
  expect(home.read()).toBe('{}');
});

test('keys of a client that the schema does not know are refused, also hostile ones', () => {
  home.write({});
  for (const data of [
    '{"agnet":{}}',
    '{"__proto__":{"x":1}}',
    '{"agent":{"__proto__":{"x":1}}}',
    '{"agent":{"constructor":1}}',
  ]) {
    expect(
      thrownBy<ConfigError>(() => saveConfig(home.paths, JSON.parse(data), options())),
      data,
    ).toMatchObject({
      code: expect.stringMatching(/^config_/),
    });
  }
  expect(home.read()).toBe('{}');
});

test('mode and link of the old file are kept', () => {
  const real = join(home.folder, 'dotfiles.json');
  writeFileSync(real, '{}');
  chmodSync(real, 0o640);
  symlinkSync(real, home.paths.configFile);
  set(['gateway', 'port'], 4000);
  expect(JSON.parse(readFileSync(real, 'utf8'))).toEqual({ gateway: { port: 4000 } });
  expect(statSync(real).mode & 0o777).toBe(0o640);
});

test('a save on top of a change that came in between keeps both', async () => {
  home.write({ log: { level: 'warn' } });
  const reading = await import('../../src/config/read-text-file.js');
  const original = reading.readTextFile;
  let reads = 0;
  const spy = vi.spyOn(reading, 'readTextFile').mockImplementation((file) => {
    if (file === home.paths.configFile && ++reads === 2) home.write({ log: { level: 'error' } });
    return original(file);
  });
  set(['gateway', 'port'], 4000);
  spy.mockRestore();
  expect(JSON.parse(home.read())).toEqual({ log: { level: 'error' }, gateway: { port: 4000 } });
});

test('the home is the one that was given, whatever a relative PICOBOT_HOME would mean now', () => {
  home.write({});
  const { config } = setConfigValue(home.paths, ['gateway', 'port'], 4000, { env: { PICOBOT_HOME: 'elsewhere' } });
  expect(config.gateway.port).toBe(4000);
});

test('a folder in which nothing can be written leaves the old file and says why', () => {
  const blocked = join(home.folder, 'config.json');
  mkdirSync(`${blocked}.${process.pid}.tmp`);
  mkdirSync(join(`${blocked}.${process.pid}.tmp`, 'x'));
  writeFileSync(blocked, '{}');
  const env = { ...home.env, PICOBOT_CONFIG: blocked };
  const paths = { ...home.paths, configFile: blocked };
  expect(thrownBy<ConfigError>(() => setConfigValue(paths, ['gateway', 'port'], 1, { env })).code).toBe(
    'config_unwritable',
  );
  expect(readFileSync(blocked, 'utf8')).toBe('{}');
});

const canMount = process.platform === 'linux' && process.getuid?.() === 0 && canMountTmpfs();
test.skipIf(!canMount)('a disk that is full in the middle of a save leaves the old file whole', () => {
  const mount = join(home.folder, 'disk');
  mkdirSync(mount);
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', mount]);
  try {
    const file = join(mount, 'config.json');
    const old = JSON.stringify({ agent: { systemPrompt: 'x'.repeat(20_000) } });
    writeFileSync(file, old);
    const env = { ...home.env, PICOBOT_CONFIG: file };
    const paths = { ...home.paths, configFile: file };
    const save = () => setConfigValue(paths, ['agent', 'systemPrompt'], 'y'.repeat(60_000), { env });
    expect(thrownBy<ConfigError>(save)).toMatchObject({
      code: 'config_unwritable',
      message: expect.stringContaining('disk is full'),
    });
    expect(readFileSync(file, 'utf8')).toBe(old);
    expect(readdirSync(mount)).toEqual(['config.json']);
  } finally {
    spawnSync('umount', [mount]);
  }
});

test('a kill in the middle of a save leaves the old text or the new one', async () => {
  const module = join(home.folder, 'atomic-write.mjs');
  const source = readFileSync(new URL('../../src/config/atomic-write.ts', import.meta.url), 'utf8');
  writeFileSync(module, ts.transpileModule(source, { compilerOptions: { module: ts.ModuleKind.ESNext } }).outputText);
  const file = join(home.folder, 'killed.json');
  const program = `import { writeFileAtomic } from ${JSON.stringify(module)};
    for (let turn = 0; ; turn++) {
      const text = 'ab'[turn % 2].repeat(8_000_000);
      if (turn > 0) console.log(turn);
      writeFileAtomic(${JSON.stringify(file)}, text);
    }`;
  for (let kill = 0; kill < 5; kill++) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const text = readFileSync(file, 'utf8');
    expect(['a', 'b'].some((letter) => text === letter.repeat(8_000_000))).toBe(true);
  }
});

test('editing changes exactly what was asked and nothing else, for any data and any layout', () => {
  const key = fc.constantFrom('a', 'b', 'c d', 'é"\\');
  const tree = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(fc.integer()),
      tie('object'),
    ),
    object: fc.dictionary(key, tie('value'), { noNullPrototype: true }) as fc.Arbitrary<Record<string, unknown>>,
  }));
  const layout = fc.constantFrom<(data: unknown) => string>(
    (data) => JSON.stringify(data),
    (data) => JSON.stringify(data, null, 2),
    (data) => JSON.stringify(data, null, '\t').replaceAll('\n', '\r\n'),
    (data) => `// top\n${JSON.stringify(data, null, 4).replace(/([{,])\n/g, '$1 // why\n')}\n`,
  );
  fc.assert(
    fc.property(
      tree.object,
      layout,
      fc.array(key, { minLength: 1, maxLength: 3 }),
      tree.value,
      (data, write, path, value) => {
        const expected = structuredClone(data);
        setIn(expected, path, value);
        const before = write(data);
        const after = editText(before, [{ path, value }]);
        const errors: unknown[] = [];
        expect(parse(after, errors as never, { allowTrailingComma: false })).toEqual(expected);
        expect(errors).toEqual([]);
        const comments = (text: string) => text.match(/\/\/ \w+$/gm)?.length ?? 0;
        if (valueIn(data, path.slice(0, 1)) === undefined) expect(comments(after)).toBe(comments(before));
        const removed = editText(after, [{ path, value: undefined }]);
        expect(parse(removed, errors as never, { allowTrailingComma: false })).toEqual(without(expected, path));
        expect(errors).toEqual([]);
        if (typeof value !== 'object') expect(comments(removed)).toBe(comments(after));
      },
    ),
    { numRuns: 300 },
  );
});

function setIn(data: Record<string, unknown>, path: string[], value: unknown): void {
  let place = data;
  for (const key of path.slice(0, -1)) {
    const next = place[key];
    if (typeof next !== 'object' || next === null || Array.isArray(next)) place[key] = {};
    place = place[key] as Record<string, unknown>;
  }
  place[path.at(-1)!] = value;
}

function valueIn(data: unknown, path: string[]): unknown {
  return path.reduce<unknown>((place, key) => (place as Record<string, unknown> | undefined | null)?.[key], data);
}

function without(data: Record<string, unknown>, path: string[]): Record<string, unknown> {
  const copy = structuredClone(data);
  delete (valueIn(copy, path.slice(0, -1)) as Record<string, unknown>)[path.at(-1)!];
  return copy;
}

function canMountTmpfs(): boolean {
  return spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;
}

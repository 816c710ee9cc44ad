import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { resolveConnection } from '../../src/client/connection.js';
import { tempDir } from '../temp-dir.js';

let env: Record<string, string>;
let home: string;
beforeEach(() => {
  home = join(tempDir(), 'home');
  mkdirSync(home);
  env = { PICOBOT_HOME: home, HOME: home };
});

const write = (name: string, text: string) => writeFileSync(join(home, name), text, { mode: 0o600 });
const thrown = (work: () => unknown) => {
  try {
    return work();
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

describe('the connection of a home', () => {
  test('is where its configuration listens, with the token of its file', () => {
    write('token', 'of-the-file\n');
    expect(resolveConnection({}, env)).toEqual({ url: 'http://127.0.0.1:18880', token: 'of-the-file' });
    write('config.json', '{ "gateway": { "host": "::", "port": 4000, "token": "of-the-config" } }');
    expect(resolveConnection({}, env)).toEqual({ url: 'http://[::1]:4000', token: 'of-the-config' });
    expect(
      resolveConnection({}, { ...env, PICOBOT_HOST: '0.0.0.0', PICOBOT_PORT: '5000', PICOBOT_TOKEN: 'of-env' }),
    ).toEqual({
      url: 'http://127.0.0.1:5000',
      token: 'of-env',
    });
    expect(resolveConnection({ token: 'given' }, env).token).toBe('given');
  });

  test('does not exist before the first start, and nothing is created for it', () => {
    expect(thrown(() => resolveConnection({}, env))).toBe('not_set_up');
    expect(thrown(() => resolveConnection({}, { ...env, PICOBOT_HOME: join(home, 'none') }))).toBe('not_set_up');
    write('config.json', '{ broken');
    expect(thrown(() => resolveConnection({}, env))).toBe('config_syntax');
  });
});

describe('an address that is given', () => {
  test('needs no home when its token is given too', () => {
    write('config.json', '{ broken');
    const url = 'https://bot.example.org:8443/pico/';
    expect(resolveConnection({ url, token: 't' }, env)).toEqual({
      url: 'https://bot.example.org:8443/pico',
      token: 't',
    });
    expect(resolveConnection({ url: 'wss://bot.example.org' }, { ...env, PICOBOT_TOKEN: 't' }).url).toBe(
      'https://bot.example.org',
    );
    expect(resolveConnection({ url: '127.0.0.1:99', token: 't' }, env).url).toBe('http://127.0.0.1:99');
  });

  test("gets the home's token on this machine only", () => {
    write('token', 'of-the-file');
    for (const url of ['http://localhost:9', 'http://127.0.0.1:9', 'http://[::1]:9']) {
      expect(resolveConnection({ url }, env)).toEqual({ url, token: 'of-the-file' });
    }
    expect(thrown(() => resolveConnection({ url: 'http://bot.example.org' }, env))).toBe('token_needed');
    expect(thrown(() => resolveConnection({ url: 'http://127.0.0.1.example.org' }, env))).toBe('token_needed');
  });

  test('must be one', () => {
    for (const url of ['ftp://x', 'http://', 'http://a b']) {
      expect(thrown(() => resolveConnection({ url, token: 't' }, env))).toBe('invalid_url');
    }
  });
});

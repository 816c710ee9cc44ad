import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ConfigError } from '../../src/config/config-error.js';
import { ensureHome, readToken, resolveHome } from '../../src/config/home.js';
import { thrownBy, useTemporaryHome } from './temporary-home.js';

const home = useTemporaryHome();
const mode = (file: string) => statSync(file).mode & 0o777;

test('the home is ~/.picobot, or what PICOBOT_HOME says', () => {
  expect(resolveHome({}).home).toBe(join(homedir(), '.picobot'));
  expect(resolveHome({ HOME: '/h' }).home).toBe('/h/.picobot');
  expect(resolveHome({ HOME: '/h', PICOBOT_HOME: '~/bot' })).toMatchObject({
    home: '/h/bot',
    configFile: '/h/bot/config.json',
    envFile: '/h/bot/.env',
    tokenFile: '/h/bot/token',
    skillsDir: '/h/bot/skills',
    workspace: '/h/bot/workspace',
  });
});

test('a first start makes home, skills, workspace and a token that only the owner can read', () => {
  rmSync(home.paths.home, { recursive: true });
  const { token, isNew } = ensureHome(home.paths);
  expect(isNew).toBe(true);
  expect(Buffer.from(token, 'base64url')).toHaveLength(32);
  expect(mode(home.paths.home)).toBe(0o700);
  expect(mode(home.paths.tokenFile)).toBe(0o600);
  expect(existsSync(home.paths.skillsDir) && existsSync(home.paths.workspace)).toBe(true);
});

test('nothing that exists is changed', () => {
  chmodSync(home.paths.home, 0o755);
  writeFileSync(home.paths.tokenFile, 'my own token\n');
  expect(ensureHome(home.paths)).toEqual({ token: 'my own token', isNew: false });
  expect(mode(home.paths.home)).toBe(0o755);
  expect(readFileSync(home.paths.tokenFile, 'utf8')).toBe('my own token\n');
});

test('an emptied token file is an error that says what to do, not an open door', () => {
  writeFileSync(home.paths.tokenFile, '\n');
  expect(thrownBy<ConfigError>(() => readToken(home.paths.tokenFile))).toMatchObject({
    code: 'token_unreadable',
    message: expect.stringContaining('Delete it'),
  });
});

test('a home or workspace that cannot be made is named, with what to do', () => {
  const blocker = join(home.folder, 'file');
  writeFileSync(blocker, '');
  const inFile = resolveHome({ PICOBOT_HOME: join(blocker, 'home') });
  expect(thrownBy<ConfigError>(() => ensureHome(inFile))).toMatchObject({
    code: 'home_unwritable',
    message: expect.stringMatching(/file.home .*PICOBOT_HOME/),
  });
  expect(thrownBy<ConfigError>(() => ensureHome({ ...home.paths, workspace: blocker })).code).toBe(
    'workspace_unwritable',
  );
});

test('a token that cannot be written leaves no empty file behind', () => {
  const tokenFile = join(home.folder, 'nowhere', 'token');
  expect(thrownBy<ConfigError>(() => ensureHome({ ...home.paths, tokenFile })).code).toBe('home_unwritable');
  mkdirSync(home.paths.tokenFile);
  expect(thrownBy<ConfigError>(() => ensureHome(home.paths)).code).toBe('token_unreadable');
});

import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { repository } from './import-script.js';

/** A clone with the real bootstrap, whose npm and build only take notes. */
let clone: string;
let outside: string;
let environment: Record<string, string>;

beforeEach(() => {
  outside = mkdtempSync(join(tmpdir(), 'picobot bootstrap '));
  clone = join(outside, 'a clone');
  put('bin/picobot.mjs', readFileSync(join(repository, 'bin/picobot.mjs'), 'utf8'));
  for (const script of ['bootstrap.mjs', 'build-state.mjs'])
    cpSync(join(repository, 'scripts', script), join(clone, 'scripts', script));
  put('package.json', '{ "name": "picobot", "type": "module" }');
  lockFile({ 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '2.0.0', dev: true } });
  put('src/app.ts', 'export {};');
  put('channels/channel.ts', 'export {};');
  put(
    'scripts/build.mjs',
    `import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
    import { sourceState, writeBuildStamp } from './build-state.mjs';
    const root = new URL('..', import.meta.url);
    appendFileSync(new URL('notes', root), 'build\\n');
    if (process.env.BUILD_FAILS) process.exit(3);
    mkdirSync(new URL('dist/src/cli', root), { recursive: true });
    writeFileSync(new URL('dist/src/cli/main.js', root), 'export const main = async (argv) => { console.log(argv.join("|")); return 7; };');
    const { fileURLToPath } = await import('node:url');
    writeBuildStamp(fileURLToPath(root), sourceState(fileURLToPath(root)));`,
  );
  const npm = join(outside, 'tools', 'npm');
  mkdirSync(dirname(npm));
  writeFileSync(
    npm,
    `#!${process.execPath}
    const fs = require('fs');
    fs.appendFileSync('notes', 'npm ' + process.argv.slice(2).join(' ') + '\\n');
    console.log('npm says something');
    if (process.env.NPM_FAILS) process.exit(4);
    fs.rmSync('node_modules', { recursive: true, force: true });
    fs.mkdirSync('node_modules');
    fs.copyFileSync('package-lock.json', 'node_modules/.package-lock.json');`,
  );
  chmodSync(npm, 0o755);
  environment = { PATH: [dirname(npm), '/usr/bin', '/bin'].join(delimiter), CI: 'true', NODE_ENV: 'production' };
});
afterEach(() => rmSync(outside, { recursive: true, force: true }));

function put(file: string, text: string): void {
  mkdirSync(dirname(join(clone, file)), { recursive: true });
  writeFileSync(join(clone, file), text);
}

function lockFile(packages: Record<string, { version: string; dev?: boolean; optional?: boolean }>): void {
  put('package-lock.json', JSON.stringify({ packages: { '': { name: 'picobot' }, ...packages } }));
}

function start(more: Record<string, string> = {}) {
  const result = spawnSync(process.execPath, [join(clone, 'bin/picobot.mjs'), 'start', 'a b'], {
    cwd: outside,
    env: { ...environment, ...more },
    encoding: 'utf8',
  });
  return { code: result.status, stdout: result.stdout, stderr: result.stderr };
}

/** What npm and the build were asked for since the last look. */
function notes(): string[] {
  const file = join(clone, 'notes');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  rmSync(file);
  return lines;
}

const install = 'npm ci --include=dev --no-audit --no-fund';

test('a fresh clone installs and builds once, says so on stderr, and stdout and the exit code are the command’s', () => {
  const first = start();
  expect(first).toMatchObject({ code: 7, stdout: 'start|a b\n' });
  expect(first.stderr).toContain('installing packages (about a minute, once)');
  expect(first.stderr).toContain('building');
  expect(notes()).toEqual([install, 'build']);
  expect(start()).toEqual({ code: 7, stdout: 'start|a b\n', stderr: '' });
  expect(notes()).toEqual([]);
});

test('an edited, an added and a removed source each build again, packages stay', () => {
  start();
  notes();
  for (const change of [
    () => put('src/app.ts', 'export const x = 1;'),
    () => put('channels/new/new.ts', 'export {};'),
    () => rmSync(join(clone, 'channels/new'), { recursive: true }),
    // A file that was put back with its old time.
    () => utimesSync(join(clone, 'src/app.ts'), 1000, 1000),
  ]) {
    change();
    expect(start().code).toBe(7);
    expect(notes()).toEqual(['build']);
  }
});

test('another lock file installs again, the same packages under a newer file do not', () => {
  start();
  notes();
  utimesSync(join(clone, 'package-lock.json'), 2_000_000_000, 2_000_000_000);
  start();
  expect(notes()).toEqual(['build']);
  lockFile({ 'node_modules/a': { version: '1.0.1' }, 'node_modules/b': { version: '2.0.0', dev: true } });
  start();
  expect(notes()).toEqual([install, 'build']);
});

test('packages that somebody installed by hand are taken as they are, optional ones may be missing', () => {
  lockFile({ 'node_modules/a': { version: '1.0.0' }, 'node_modules/c': { version: '3.0.0', optional: true } });
  put('node_modules/.package-lock.json', JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0' } } }));
  start();
  expect(notes()).toEqual(['build']);
});

test('a build that is up to date needs no packages of the build', () => {
  start();
  notes();
  put('node_modules/.package-lock.json', JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0' } } }));
  rmSync(join(clone, 'node_modules/.picobot-stamp'));
  expect(start().code).toBe(7);
  expect(notes()).toEqual([]);
});

test('packages made for another Node.js are installed again', () => {
  start();
  notes();
  const stamp = join(clone, 'node_modules/.picobot-stamp');
  writeFileSync(stamp, readFileSync(stamp, 'utf8').replace(/-\d+"/, '-1"'));
  start();
  expect(notes()).toEqual([install]);
});

test('a missing npm, a failing npm and a failing build are told apart, with what to do', () => {
  expect(start({ PATH: '/nowhere' })).toMatchObject({ code: 1, stderr: expect.stringContaining('npm was not found') });
  expect(start({ NPM_FAILS: '1' })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('npm ci failed (ended with code 4)'),
  });
  expect(start({ BUILD_FAILS: '1' })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the build failed (ended with code 3)'),
  });
  expect(start().code).toBe(7);
});

test('installed as a package, without sources, nothing is installed or built', () => {
  start();
  notes();
  rmSync(join(clone, 'src'), { recursive: true });
  rmSync(join(clone, 'package-lock.json'));
  rmSync(join(clone, 'scripts/build.mjs'));
  expect(start()).toEqual({ code: 7, stdout: 'start|a b\n', stderr: '' });
});

test('two starts at once install and build one time', async () => {
  const run = () =>
    new Promise<number | null>((resolve) => {
      const child = spawn(process.execPath, [join(clone, 'bin/picobot.mjs'), 'start'], {
        env: environment,
        stdio: 'ignore',
      });
      child.on('exit', resolve);
    });
  expect(await Promise.all([run(), run(), run()])).toEqual([7, 7, 7]);
  expect(notes()).toEqual([install, 'build']);
});

test('a lock that a killed start left behind does not stop the next', () => {
  put('dist/.bootstrap.lock', '999999999');
  expect(start().code).toBe(7);
});

/** Makes a fresh clone runnable: installs packages and builds when something is missing or has changed. */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBuilt, isInstalled, writePackagesStamp } from './build-state.mjs';

/** Something the user must know or do; shown without a stack. */
export class BootstrapError extends Error {}

export const repository = dirname(dirname(fileURLToPath(import.meta.url)));

const tell = (text) => process.stderr.write(`picobot: ${text}\n`);

/**
 * Returns when dist/ can be imported. `withDev`: also what tests need. Does nothing where PicoBot was installed as a
 * package, without its sources. Throws `BootstrapError`.
 */
export async function prepare(root, { withDev = false } = {}) {
  if (!existsSync(join(root, 'src'))) return;
  if (isBuilt(root) && isInstalled(root, { withDev })) return;
  // Imported here: the usual start needs none of it.
  const { spawnSync } = await import('node:child_process');
  const release = await lock(root);
  try {
    const needsBuild = !isBuilt(root);
    if (!isInstalled(root, { withDev: withDev || needsBuild })) install(root, spawnSync);
    if (needsBuild) build(root, spawnSync);
  } finally {
    release();
  }
}

function install(root, spawnSync) {
  tell('installing packages (about a minute, once) …');
  // Told explicitly: with NODE_ENV=production npm would leave out what the build needs.
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund'];
  // npm's own output goes to stderr, so that stdout stays clean for commands that print data.
  const options = { cwd: root, stdio: ['ignore', 2, 2] };
  const cli = process.env.npm_execpath;
  const isNpm = cli !== undefined && /npm-cli\.[cm]?js$/.test(cli) && existsSync(cli);
  const result = isNpm
    ? spawnSync(process.execPath, [cli, ...args], options)
    : spawnSync('npm', args, { ...options, shell: process.platform === 'win32' });
  if (result.error?.code === 'ENOENT') {
    throw new BootstrapError(
      'npm was not found. It comes with Node.js (https://nodejs.org); on Debian: apt-get install npm',
    );
  }
  fail('npm ci', result, 'Is the network there? Native packages may need python3, make and g++ to compile.');
  writePackagesStamp(root, { withDev: true });
}

function build(root, spawnSync) {
  tell('building (some seconds, once) …');
  // A process of its own: the memory of the compiler is not the daemon's.
  const script = join(root, 'scripts', 'build.mjs');
  fail('the build', spawnSync(process.execPath, [script, '--program'], { cwd: root, stdio: ['ignore', 2, 2] }), '');
}

function fail(what, { status, signal, error }, hint) {
  if (status === 0) return;
  const how = error ? error.message : signal ? `ended by ${signal}` : `ended with code ${status}`;
  throw new BootstrapError(`${what} failed (${how}); see above. ${hint}`.trim());
}

/** Two starts at once must not install over each other. Returns what gives the lock back. */
async function lock(root) {
  const folder = join(root, 'dist');
  const file = join(folder, '.bootstrap.lock');
  for (let isTold = false; ; ) {
    try {
      mkdirSync(folder, { recursive: true });
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if (error.code !== 'EEXIST') throw new BootstrapError(`Cannot write in ${folder} (${error.code}).`);
    }
    if (isLeftOver(file)) rmSync(file, { force: true });
    else if (!isTold) {
      tell('another start is installing or building; waiting for it …');
      isTold = true;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Its process is gone, or it is so old that another process must have got the same id since. */
function isLeftOver(file) {
  try {
    if (Date.now() - statSync(file).mtimeMs > 15 * 60_000) return true;
    // A file without an id was made this very moment.
    const pid = Number(readFileSync(file, 'utf8')) || process.pid;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

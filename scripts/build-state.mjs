/** Whether packages and build are up to date. Runs at every start, so it only looks at a few hundred file times. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const sourceFolders = ['src', 'channels'];
const sourceFiles = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'scripts/build.mjs',
  'scripts/bundle.mjs',
  'scripts/program-loader.cjs',
];

/** Changes whenever a source is edited, added, removed or replaced by an older one. */
export function sourceState(root) {
  let count = 0;
  let timesMs = 0;
  let bytes = 0;
  const look = (path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats) return;
    count++;
    timesMs += Math.trunc(stats.mtimeMs);
    bytes += stats.size;
  };
  const walk = (folder) => {
    look(folder);
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) walk(path);
      else look(path);
    }
  };
  for (const folder of sourceFolders) if (existsSync(join(root, folder))) walk(join(root, folder));
  for (const file of sourceFiles) look(join(root, file));
  return `${count} files, ${bytes} bytes, sum of times ${timesMs}`;
}

export function isBuilt(root) {
  return existsSync(join(root, 'dist/src/cli/main.js')) && read(buildStamp(root)) === sourceState(root);
}

export function writeBuildStamp(root, state) {
  writeFileSync(buildStamp(root), state);
}

/** `withDev`: what building and testing need is there, too. */
export function isInstalled(root, { withDev }) {
  const stamp = readJson(packagesStamp(root));
  // Made for another Node.js: the native packages do not load.
  if (stamp && stamp.node !== nodeAbi) return false;
  if (stamp && stamp.lock === lockState(root) && (stamp.withDev || !withDev)) return true;
  if (!agreesWithLock(root, withDev)) return false;
  writePackagesStamp(root, { withDev });
  return true;
}

export function writePackagesStamp(root, { withDev }) {
  const stamp = { lock: lockState(root), node: nodeAbi, withDev };
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(packagesStamp(root), `${JSON.stringify(stamp)}\n`);
}

const nodeAbi = `${process.platform}-${process.arch}-${process.versions.modules}`;

function lockState(root) {
  const { mtimeMs, size } = statSync(join(root, 'package-lock.json'));
  return `${mtimeMs} ${size}`;
}

/** The file is newer, or somebody ran npm by hand: what npm says it installed is what the lock file wants. */
function agreesWithLock(root, withDev) {
  const installed = readJson(join(root, 'node_modules/.package-lock.json'))?.packages;
  const wanted = readJson(join(root, 'package-lock.json'))?.packages;
  if (!installed || !wanted) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true;
    const found = installed[path];
    if (found) return found.version === entry.version;
    return entry.optional || entry.devOptional || entry.peer || (entry.dev && !withDev);
  });
}

const buildStamp = (root) => join(root, 'dist/.stamp');
const packagesStamp = (root) => join(root, 'node_modules/.picobot-stamp');

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

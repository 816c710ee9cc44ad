/**
 * Loads the bundled program from its code cache: what V8 made of a file at the build is not made again at each start.
 * Copied beside the bundle. A cache that is missing or made by another Node.js only costs its gain.
 */
'use strict';
const { readFileSync, renameSync, writeFileSync } = require('node:fs');
const { basename, join } = require('node:path');
const vm = require('node:vm');

const wrapper = ['(function (exports, require, module, __filename, __dirname) {', '\n})'];
const loaded = new Map();

/** `name`: a file of this folder. */
function load(name) {
  const file = join(__dirname, basename(name));
  // Node.js maps stack traces back to the sources only for what it has loaded itself.
  if (process.sourceMapsEnabled) return require(file);
  const known = loaded.get(file);
  if (known) return known.module.exports;
  const script = new vm.Script(wrapper.join(readFileSync(file, 'utf8')), {
    filename: file,
    columnOffset: -wrapper[0].length,
    cachedData: readCache(file),
  });
  const module = { exports: {} };
  loaded.set(file, { module, script });
  script.runInThisContext()(module.exports, requireFrom, module, file, __dirname);
  return module.exports;
}

const requireFrom = Object.assign((id) => (id.startsWith('./') ? load(id) : require(id)), { resolve: require.resolve });

function readCache(file) {
  try {
    return readFileSync(`${file}.cache`);
  } catch {
    return undefined;
  }
}

/** Keeps what was compiled so far, of everything that was loaded. The build calls it after a trial run. */
function writeCaches() {
  for (const [file, { script }] of loaded) {
    writeFileSync(`${file}.cache.tmp`, script.createCachedData());
    renameSync(`${file}.cache.tmp`, `${file}.cache`);
  }
}

module.exports = { load, writeCaches };

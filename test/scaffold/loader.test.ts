import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { repository } from './import-script.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'picobot loader '));
  cpSync(join(repository, 'scripts/program-loader.cjs'), join(folder, 'loader.cjs'));
  writeFileSync(
    join(folder, 'entry-1.cjs'),
    "const { twice } = require('./chunk-2.cjs'); exports.run = (n) => twice(n); exports.where = __filename;",
  );
  writeFileSync(
    join(folder, 'chunk-2.cjs'),
    'exports.loads = (globalThis.loads ??= 0) + 1; globalThis.loads++; exports.twice = (n) => n * 2;',
  );
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function run(program: string, ...flags: string[]) {
  const preamble = "const { load, writeCaches } = require('./loader.cjs');";
  const result = spawnSync(process.execPath, [...flags, '-e', preamble + program], { cwd: folder, encoding: 'utf8' });
  expect(result.stderr).toBe('');
  return result.stdout.trim();
}

test('a file and its chunks are loaded once, and know where they are', () => {
  expect(
    run("load('entry-1.cjs'); console.log(load('entry-1.cjs').run(21), globalThis.loads, load('entry-1.cjs').where)"),
  ).toBe(`42 1 ${join(folder, 'entry-1.cjs')}`);
});

test('what was compiled is kept and used', () => {
  run("load('entry-1.cjs').run(1); writeCaches();");
  expect(existsSync(join(folder, 'chunk-2.cjs.cache'))).toBe(true);
  const program = `const vm = require('node:vm'); const Script = vm.Script; const rejected = [];
    vm.Script = class extends Script { constructor(source, options) { super(source, options); rejected.push(options.cachedData && this.cachedDataRejected); } };
    console.log(load('entry-1.cjs').run(21), rejected.join());`;
  expect(run(program)).toBe('42 false,false');
});

test('a damaged cache is ignored', () => {
  run("load('entry-1.cjs').run(1); writeCaches();");
  const file = join(folder, 'entry-1.cjs.cache');
  for (const bytes of [Buffer.alloc(0), readFileSync(file).subarray(0, 100), Buffer.from('no cache at all')]) {
    writeFileSync(file, bytes);
    expect(run("console.log(load('entry-1.cjs').run(21))")).toBe('42');
  }
});

test('with source maps a stack trace names the source', () => {
  const map = { version: 3, sources: ['../src/source.ts'], names: [], mappings: 'AAUA', sourcesContent: [''] };
  writeFileSync(
    join(folder, 'mapped-3.cjs'),
    "exports.fail = () => { throw new Error('x'); };\n//# sourceMappingURL=mapped-3.cjs.map",
  );
  writeFileSync(join(folder, 'mapped-3.cjs.map'), JSON.stringify(map));
  const program = "try { load('mapped-3.cjs').fail(); } catch (error) { console.log(error.stack); }";
  expect(run(program, '--enable-source-maps')).toContain('source.ts:11');
  expect(run(program)).toContain('mapped-3.cjs:1');
});

/**
 * Bundles TypeScript entries and the pure JavaScript packages they use into few files. Reading one file instead of some
 * hundred modules, and compiling it from a code cache, more than halves the time of a start; see docs/install.md.
 */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';

/**
 * Stay where npm put them: packages with native parts find their files beside themselves, and the platforms' SDKs are
 * large and loaded only when their channel is switched on.
 */
const external = [
  /^better-sqlite3($|\/)/,
  /^nodejieba($|\/)/,
  /^@node-rs\/jieba($|\/)/,
  /^sqlite-vec($|\/)/,
  /^grammy($|\/)/,
  /^@slack\//,
  /^@larksuiteoapi\/node-sdk($|\/)/,
];

/**
 * `entries`: name → source file. Returns `{ name, file, exports }` of each. The files are CommonJS, because only scripts
 * can be compiled from a cache; their names hold a hash, so that a cache cannot belong to another text.
 */
export async function bundle({ root, outDir, entries }) {
  const { output } = await build({
    root,
    configFile: false,
    envDir: false,
    publicDir: false,
    logLevel: 'warn',
    ssr: { target: 'node', noExternal: true, external: [] },
    build: {
      ssr: true,
      target: 'node20',
      outDir,
      emptyOutDir: false,
      sourcemap: true,
      rolldownOptions: {
        input: entries,
        external,
        preserveEntrySignatures: 'strict',
        checks: { pluginTimings: false },
        output: {
          format: 'cjs',
          entryFileNames: '[name]-[hash].cjs',
          chunkFileNames: '[name]-[hash].cjs',
          // A script from a code cache cannot use import(); require takes ES modules as well since Node.js 20.19.
          dynamicImportInCjs: false,
          // Less to read; names stay, so that stack traces can be read without the source map.
          minify: { compress: true, mangle: false, codegen: true },
        },
      },
    },
  });
  for (const { fileName, code = '' } of output) {
    if (fileName.endsWith('.cjs') && /(?<![\w.$])import\s*\(/.test(code))
      throw new Error(`${fileName} still has an import()`);
  }
  removeOldFiles(outDir);
  return output
    .filter((chunk) => chunk.isEntry)
    .map(({ name, fileName, exports }) => ({ name, file: fileName, exports }));
}

/** Files of earlier builds stay for a day: a daemon that runs may still load one. */
function removeOldFiles(folder) {
  if (!existsSync(folder)) return;
  const yesterday = Date.now() - 86_400_000;
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (statSync(file).mtimeMs < yesterday) rmSync(file);
  }
}

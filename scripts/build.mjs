/** Builds dist/: the bundled program, its type declarations, the web page, the configuration's schema. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { sourceState, writeBuildStamp } from './build-state.mjs';

/** The program, and what embedding programs, channels and tools import. */
const entries = [
  'src/cli/main',
  'src/app',
  'src/app-config',
  'src/config/documentation',
  'src/config/load',
  'src/config/schema',
  'src/observability/log',
  'src/protocol/errors',
  'src/tools/tool',
  'channels/channel-error',
];

/**
 * Throws when any part fails. `--program`: only what a start needs, without the type declarations that embedding
 * programs read. `--generate`: also renews the tracked files that are made from the schema.
 */
async function buildAll(root, { program, generate }) {
  // Taken first: what changes while we build makes the next start build again.
  const state = sourceState(root);
  const dist = join(root, 'dist');
  mkdirSync(dist, { recursive: true });
  const types = program ? undefined : run(root, 'node_modules/typescript/bin/tsc', ['-p', 'tsconfig.build.json']);
  // Awaited below; until then a failure must not end the process.
  types?.catch(() => {});
  const { bundle } = await import('./bundle.mjs');
  const sources = Object.fromEntries(entries.map((entry) => [entry.replaceAll('/', '-'), join(root, `${entry}.ts`)]));
  writeDoors(root, await bundle({ root, outDir: join(dist, 'program'), entries: sources }));
  await buildPage(root, dist);
  await writeGenerated(root, dist, generate);
  await run(root, 'scripts/trial-run.mjs', [dist]).catch((error) => {
    process.stderr.write(`notice: without a trial run every start takes longer (${error.message})\n`);
  });
  await types;
  writeBuildStamp(root, state);
}

/**
 * ES modules where programs look for them: dist/src/app.js and so on. They all load the one bundle, so that an error
 * class is the same class everywhere.
 */
function writeDoors(root, built) {
  write(join(root, 'dist/program/loader.cjs'), readFileSync(join(root, 'scripts/program-loader.cjs'), 'utf8'));
  for (const entry of entries) {
    const { file, exports } = built.find(({ name }) => name === entry.replaceAll('/', '-'));
    const up = '../'.repeat(entry.split('/').length - 1);
    const lines = [
      "import { createRequire } from 'node:module';",
      `const { load } = createRequire(import.meta.url)('${up}program/loader.cjs');`,
      `export const { ${exports.join(', ')} } = load('${file}');`,
    ];
    write(join(root, 'dist', `${entry}.js`), `${lines.join('\n')}\n`);
  }
}

async function buildPage(root, dist) {
  const page = join(root, 'channels', 'websocket', 'page');
  const configFile = join(page, 'vite.config.ts');
  if (!existsSync(configFile)) return;
  const { build } = await import('vite');
  const rolldownOptions = { checks: { pluginTimings: false } };
  await build({
    root: page,
    configFile,
    logLevel: 'warn',
    build: { outDir: join(dist, 'page'), emptyOutDir: true, rolldownOptions },
  });
}

async function writeGenerated(root, dist, generate) {
  const module = pathToFileURL(join(dist, 'src/config/documentation.js')).href;
  const { configSchemaText, configTables, defaultConfigText } = await import(module);
  write(join(dist, 'config', 'schema.json'), configSchemaText());
  if (!generate) return;
  write(join(root, 'config', 'schema.json'), configSchemaText());
  write(join(root, 'config', 'default.json'), defaultConfigText());
  const documentation = join(root, 'docs', 'configuration.md');
  const [before, , after] = readFileSync(documentation, 'utf8').split(/<!-- keys(?: end)? -->\n/);
  write(documentation, `${before}<!-- keys -->\n\n${configTables()}\n<!-- keys end -->\n${after}`);
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function run(root, script, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, script), ...args], { cwd: root, stdio: ['ignore', 2, 2] });
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${script} ended with code ${code}`))));
  });
}

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values } = parseArgs({ options: { program: { type: 'boolean' }, generate: { type: 'boolean' } } });
try {
  await buildAll(root, values);
} catch (error) {
  process.stderr.write(`error: the build failed: ${error.message}\n`);
  process.exitCode = 1;
}

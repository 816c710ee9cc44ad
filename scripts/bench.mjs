/** `npm run bench`: builds what is missing, bundles bench/main.ts like the daemon and runs it. Arguments go to it. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BootstrapError, prepare, repository } from './bootstrap.mjs';

const entry = join(repository, 'bench', 'main.ts');

try {
  if (!existsSync(entry))
    throw new BootstrapError('There is no bench/main.ts here: benchmarks run in a clone of the repository.');
  await prepare(repository, { withDev: true });
  const { bundle } = await import('./bundle.mjs');
  await bundle({ root: repository, outDir: join(repository, 'dist'), entries: { 'bench/main': entry } });
  const args = [join(repository, 'dist', 'bench', 'main.js'), ...process.argv.slice(2)];
  const result = spawnSync(process.execPath, args, { cwd: repository, stdio: 'inherit' });
  process.exitCode = result.status ?? 1;
} catch (error) {
  if (!(error instanceof BootstrapError)) throw error;
  console.error(`error: ${error.message}`);
  process.exitCode = 1;
}

/** `npm run bench`: bench/spine.mjs; `npm run bench -- NAME …`: another one, with its arguments. Builds what is missing. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { BootstrapError, prepare, repository } from './bootstrap.mjs';

const folder = join(repository, 'bench');
// What ends in -process is no benchmark: the others start it.
const names = readdirSync(folder).flatMap((file) => /^((?!.*-process)[\w-]+)\.mjs$/.exec(file)?.[1] ?? []);
const [name = 'spine', ...args] = process.argv.slice(2);

try {
  if (!names.includes(name))
    throw new BootstrapError(`There is no benchmark "${name}". There are: ${names.join(', ')}`);
  await prepare(repository, { withDev: true });
  const result = spawnSync(process.execPath, [join(folder, `${name}.mjs`), ...args], {
    cwd: repository,
    stdio: 'inherit',
  });
  process.exitCode = result.status ?? 1;
} catch (error) {
  if (!(error instanceof BootstrapError)) throw error;
  console.error(`error: ${error.message}`);
  process.exitCode = 2;
}

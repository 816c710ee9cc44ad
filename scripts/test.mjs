/**
 * `npm test`: installs and builds what is missing, then formatting and lint, the dependency rule, types, all tests.
 * Stops at the first failure with its exit code. Arguments go to the test runner.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BootstrapError, prepare, repository } from './bootstrap.mjs';

const report = mkdtempSync(join(tmpdir(), 'picobot-test-'));
const steps = [
  ['format and lint', 'node_modules/@biomejs/biome/bin/biome', 'check', '.'],
  ['dependency rule', 'scripts/check-floors.mjs'],
  ['types', 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.json', '--noEmit'],
  ['types of the page', 'node_modules/typescript/bin/tsc', '-p', 'channels/websocket/page/tsconfig.json', '--noEmit'],
  [
    'tests',
    'node_modules/vitest/vitest.mjs',
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${join(report, 'report.json')}`,
    ...process.argv.slice(2),
  ],
];

try {
  await prepare(repository, { withDev: true });
  process.exitCode = steps.map(run).find((code) => code !== 0) ?? 0;
} catch (error) {
  if (!(error instanceof BootstrapError)) throw error;
  console.error(`error: ${error.message}`);
  process.exitCode = 1;
} finally {
  console.log(summary(join(report, 'report.json')));
  rmSync(report, { recursive: true, force: true });
}

/** The exit code of one step; 0 for those after a failure, which are not run. */
function run([name, script, ...args]) {
  if (process.exitCode) return 0;
  console.log(`\n> ${name}`);
  const result = spawnSync(process.execPath, [join(repository, script), ...args], {
    cwd: repository,
    stdio: 'inherit',
  });
  if (result.error) throw result.error;
  process.exitCode = result.status ?? 1;
  return process.exitCode;
}

/** One plain line for whoever only reads the end: a failure before the tests counts as one. */
function summary(file) {
  let counts = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, numFailedTestSuites: 0 };
  try {
    counts = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    counts.numFailedTests = process.exitCode ? 1 : 0;
  }
  // A file that cannot even be loaded has no tests that failed.
  const failed = counts.numFailedTests || (process.exitCode ? Math.max(1, counts.numFailedTestSuites) : 0);
  const skipped = counts.numPendingTests + counts.numTodoTests;
  return `${counts.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

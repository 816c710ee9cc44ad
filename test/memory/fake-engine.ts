/** A module in place of nodejieba that loads at once. It cuts into characters, dies of 毒药 and hangs at 等待. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '../../src/memory/segmenter-engines.js';
import { tempDir } from '../temp-dir.js';

export function fakeEngine(more = ''): { engines: Engine[] } {
  const module = join(tempDir(), 'engine.cjs');
  writeFileSync(
    module,
    `module.exports.load = () => {};
module.exports.cutForSearch = (run) => {
  if (run === '毒药') process.kill(process.pid, 'SIGKILL');
  while (run === '等待');
  return [...run];
};
${more}`,
  );
  return { engines: [{ name: 'nodejieba', label: 'fake 1', module }] };
}

/** `node bench/memory.mjs recall|speed …`: bundles that benchmark like the daemon and runs it. */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../scripts/bundle.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const entries = { recall: 'bench/recall/run.ts', speed: 'bench/memory-speed.ts' };
const [name, ...args] = process.argv.slice(2);
if (!(name in entries)) throw new Error('usage: node bench/memory.mjs recall|speed [options]');
const outDir = join(root, 'dist', 'bench');
const [entry] = await bundle({ root, outDir, entries: { [`memory-${name}`]: join(root, entries[name]) } });
const folder = dirname(join(root, entries[name]));
const result = spawnSync(process.execPath, [join(outDir, entry.file), folder, ...args], { stdio: 'inherit' });
process.exitCode = result.status ?? 1;

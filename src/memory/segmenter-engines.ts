/** Which engines are installed here, best first. Only looks for files; nothing is loaded. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Config } from '../config/schema.js';
import type { EngineModules } from './segmenter-program.js';

export interface Engine extends EngineModules {
  /** Name and version, as recorded with the index. */
  label: string;
}

export function findEngines(choice: Config['memory']['segmenter']): Engine[] {
  const names = choice === 'auto' ? (['nodejieba', '@node-rs/jieba'] as const) : ([choice] as const);
  return names.flatMap((name) => find(name) ?? []);
}

function find(name: EngineModules['name']): Engine | undefined {
  const { resolve } = createRequire(import.meta.url);
  try {
    const module = resolve(name);
    const { version } = JSON.parse(readFileSync(join(dirname(module), 'package.json'), 'utf8')) as { version: string };
    const label = `${name} ${version}`;
    return name === 'nodejieba'
      ? { name, module, label }
      : { name, module, label, dictionary: resolve('@node-rs/jieba/dict.js') };
  } catch {
    // Not installed: the next one, or pairs of characters alone.
    return undefined;
  }
}

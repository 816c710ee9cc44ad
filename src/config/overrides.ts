/** PICOBOT_HOST, PICOBOT_PORT, PICOBOT_TOKEN and PICOBOT_LOG_LEVEL stand above the file. */

import { z } from 'zod';
import { type ConfigPath, valueAt } from './config-path.js';
import type { Environment } from './environment.js';
import { schemaAt, typeOf } from './schema-walk.js';

const overrides: [variable: string, path: [string, string]][] = [
  ['PICOBOT_HOST', ['gateway', 'host']],
  ['PICOBOT_PORT', ['gateway', 'port']],
  ['PICOBOT_TOKEN', ['gateway', 'token']],
  ['PICOBOT_LOG_LEVEL', ['log', 'level']],
];

/** A variable that is set but empty is no override. Changes nothing of `data`. */
export function applyOverrides(
  data: Record<string, unknown>,
  env: Environment,
): { data: Record<string, unknown>; problems: { path: ConfigPath; message: string }[] } {
  const result = { ...data };
  const problems: { path: ConfigPath; message: string }[] = [];
  for (const [variable, path] of overrides) {
    const text = env[variable];
    if (!text) continue;
    const schema = schemaAt(path)!;
    const value = typeOf(schema) === 'number' && /^\d+$/.test(text) ? Number(text) : text;
    const [section, key] = path;
    if (!z.safeParse(schema, value).success) {
      problems.push({ path: [variable], message: `${JSON.stringify(text)} cannot be used for ${path.join('.')}` });
    } else {
      const old = valueAt(data, [section]) ?? {};
      if (typeof old === 'object' && !Array.isArray(old))
        result[section] = { ...(result[section] as object), [key]: value };
    }
  }
  return { data: result, problems };
}

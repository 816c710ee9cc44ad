/** Walks a configuration, whole or in part, and hands every secret text in it to a function. */

import type { ConfigPath } from './config-path.js';
import { configSchema } from './schema.js';
import { childOf, isSecret, type Schema, typeOf } from './schema-walk.js';

/**
 * A copy of `value` in which `replace` has changed the secrets. Secret is what the schema says; where it says nothing
 * (the settings of MCP servers, unknown keys) everything below `env` and `headers` is, and what bears a telling name.
 */
export function mapSecrets(value: unknown, replace: (secret: string, path: ConfigPath) => unknown): unknown {
  return visit(value, configSchema, [], false, replace);
}

function visit(
  value: unknown,
  schema: Schema | undefined,
  path: ConfigPath,
  isTelling: boolean,
  replace: (secret: string, path: ConfigPath) => unknown,
): unknown {
  if (typeof value === 'string') {
    const hidden = schema ? isSecret(schema) || (typeOf(schema) === 'unknown' && isTelling) : isTelling;
    return hidden && value !== '' ? replace(value, path) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const known = schema && typeOf(schema) !== 'unknown' ? schema : undefined;
  const child = (key: string | number, inner: unknown) => {
    const telling = isTelling || (typeof key === 'string' && tellingName.test(key));
    return visit(inner, known && childOf(known, key), [...path, key], telling, replace);
  };
  if (Array.isArray(value)) return value.map((item, index) => child(index, item));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, child(key, inner)]));
}

const tellingName = /^(env|headers)$|key$|token|secret|passw|credential|authorization|cookie/i;

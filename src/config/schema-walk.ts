/** Reads the zod schema itself: what may stand at a path, which keys an object knows, which strings are secret. */
import { z } from 'zod';
import type { ConfigPath } from './config-path.js';
import { configSchema } from './schema.js';

export type Schema = z.core.$ZodType;

type Definition = z.core.$ZodTypes['_zod']['def'];

/** Without optional, default and the like. */
export function unwrap(schema: Schema): Schema {
  let inner = schema;
  for (;;) {
    const definition = inner._zod.def as { innerType?: Schema };
    if (!definition.innerType) return inner;
    inner = definition.innerType;
  }
}

export function typeOf(schema: Schema): Schema['_zod']['def']['type'] {
  return unwrap(schema)._zod.def.type;
}

export function isSecret(schema: Schema): boolean {
  return z.globalRegistry.get(unwrap(schema))?.secret === true;
}

/** Names that an object knows; undefined for anything that is not an object with fixed keys. */
export function knownKeys(schema: Schema): string[] | undefined {
  const definition = unwrap(schema)._zod.def as Definition;
  return definition.type === 'object' ? Object.keys(definition.shape) : undefined;
}

/** What `key` may hold; undefined when there is no such key, or when nothing is known about it. */
export function childOf(schema: Schema, key: string | number): Schema | undefined {
  const definition = unwrap(schema)._zod.def as Definition;
  if (definition.type === 'object') {
    return Object.hasOwn(definition.shape, key) ? definition.shape[key as string] : undefined;
  }
  if (definition.type === 'record') return definition.valueType;
  if (definition.type === 'array') return definition.element;
  return undefined;
}

export function schemaAt(path: ConfigPath): Schema | undefined {
  let schema: Schema | undefined = configSchema;
  for (const key of path) schema &&= childOf(schema, key);
  return schema;
}

export function takesNull(schema: Schema): boolean {
  return z.safeParse(schema, null).success;
}

/** All paths with fixed keys, records left out: for "did you mean". */
export function knownPaths(schema: Schema = configSchema, prefix: string[] = []): string[][] {
  return (knownKeys(schema) ?? []).flatMap((key) => {
    const path = [...prefix, key];
    const child = childOf(schema, key);
    return [path, ...(child ? knownPaths(child, path) : [])];
  });
}

/** Data against the schema: the configuration, or every problem with its path. */
import type { z } from 'zod';
import type { ConfigProblem } from './config-error.js';
import { type ConfigPath, formatPath, valueAt } from './config-path.js';
import { type Config, configSchema } from './schema.js';
import { isSecret, schemaAt } from './schema-walk.js';
import { suggestKey } from './suggest.js';

/** A problem before its place in the file is known. */
export interface SchemaProblem extends ConfigProblem {
  at: ConfigPath;
}

export function validate(data: Record<string, unknown>): { config: Config } | { problems: SchemaProblem[] } {
  const result = configSchema.safeParse(data);
  if (result.success) return { config: result.data };
  return { problems: result.error.issues.flatMap((issue) => toProblems(issue, data)) };
}

function toProblems(issue: z.core.$ZodIssue, data: unknown): SchemaProblem[] {
  const path = issue.path as ConfigPath;
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => problemAt([...path, key], unknownKey(key, path)));
  }
  if (issue.code === 'invalid_key') {
    return [
      problemAt(path, 'this name is not allowed: small letters, digits, ".", "_" and "-", a letter or digit first'),
    ];
  }
  const value = valueAt(data, path);
  const schema = schemaAt(path);
  const isShown = value !== undefined && typeof value !== 'object' && schema && !isSecret(schema);
  const shown = isShown ? `, not ${JSON.stringify(value).slice(0, 60)}` : '';
  return [problemAt(path, `${expectation(issue)}${shown}`)];
}

function unknownKey(key: string, path: ConfigPath): string {
  const schema = schemaAt(path);
  const suggestion = schema && suggestKey(key, schema, path);
  return suggestion === undefined ? 'unknown key' : `unknown key; did you mean "${suggestion}"?`;
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${typeNames[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `expected ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'too_small':
      return `expected at least ${issue.minimum}`;
    case 'too_big':
      return `expected at most ${issue.maximum}`;
    case 'invalid_format':
      return issue.format === 'url' ? 'expected a URL such as https://example.org' : `expected ${issue.format}`;
    case 'invalid_union':
      return 'none of the allowed forms fits';
    default:
      return issue.message;
  }
}

const typeNames: Record<string, string> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a text in double quotes',
  boolean: 'true or false',
  array: 'a list in square brackets',
  object: 'an object in braces',
  record: 'an object in braces',
};

function problemAt(at: ConfigPath, message: string): SchemaProblem {
  return { at, path: formatPath(at), message };
}

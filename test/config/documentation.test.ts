import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'jsonc-parser';
import { expect, test } from 'vitest';
import { configSchemaText, configTables, defaultConfigText } from '../../src/config/documentation.js';
import { configJsonSchema, type JsonSchema } from '../../src/config/json-schema.js';
import { configSchema } from '../../src/config/schema.js';
import { isSecret, knownPaths, schemaAt } from '../../src/config/schema-walk.js';
import { useTemporaryHome } from './temporary-home.js';

const home = useTemporaryHome();
const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const renew = 'renew it with: node scripts/build.mjs --generate';

test('config/schema.json is what the schema says', () => {
  expect(read('config/schema.json') === configSchemaText(), renew).toBe(true);
});

test('config/default.json is what the schema says, and holds every default', () => {
  expect(read('config/default.json') === defaultConfigText(), renew).toBe(true);
  expect(parse(defaultConfigText())).toEqual(configSchema.parse({}));
});

test('docs/configuration.md has the tables that the schema makes, and names every variable above the file', () => {
  const documentation = read('docs/configuration.md');
  expect(documentation.includes(configTables()), renew).toBe(true);
  for (const name of ['HOME', 'CONFIG', 'HOST', 'PORT', 'TOKEN', 'LOG_LEVEL'])
    expect(documentation).toContain(`PICOBOT_${name}`);
});

test('every key is in the tables, with a meaning', () => {
  const tables = configTables();
  const leaves = knownPaths().filter((path) => {
    const longer = knownPaths().some(
      (other) => other.length > path.length && path.every((part, index) => part === other[index]),
    );
    return !longer && path.join('.') !== 'platforms';
  });
  for (const path of leaves)
    expect(tables, path.join('.')).toMatch(
      new RegExp(`^\\| \`${path.join('\\.').replace('$', '\\$')}\` \\| .+ \\| .* \\| \\S.* \\|$`, 'm'),
    );
  for (const line of tables.split('\n').filter((text) => text.startsWith('|'))) {
    expect(line.split(/(?<!\\)\|/), line).toHaveLength(6);
    expect(line, 'a key without a meaning').not.toMatch(/\|\s*\|$/);
  }
});

test('the JSON schema marks secrets and refuses unknown keys everywhere', () => {
  const schema = configJsonSchema();
  const visit = (node: JsonSchema, path: string[]) => {
    if (node.properties) expect(node.additionalProperties, path.join('.')).toBe(false);
    const known = schemaAt(path);
    if (known && node.type === 'string') expect(node.writeOnly === true, path.join('.')).toBe(isSecret(known));
    for (const [key, child] of Object.entries(node.properties ?? {})) visit(child, [...path, key]);
    if (typeof node.additionalProperties === 'object') visit(node.additionalProperties, [...path, 'name']);
  };
  visit(schema, []);
  expect(JSON.stringify(schema)).not.toContain('"secret"');
});

test('every example loads once its variables are set', () => {
  const variables = { DEEPSEEK_API_KEY: 'k', OPENAI_API_KEY: 'k', TELEGRAM_BOT_TOKEN: 'k', PICOBOT_ACCESS_TOKEN: 'k' };
  const examples = readdirSync(join(root, 'config/examples'));
  expect(examples.length).toBeGreaterThan(3);
  for (const name of examples) {
    home.write(read(`config/examples/${name}`));
    expect(() => home.load(variables), name).not.toThrow();
  }
});

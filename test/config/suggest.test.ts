import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatPath, parsePath } from '../../src/config/config-path.js';
import { configSchema } from '../../src/config/schema.js';
import { knownPaths, schemaAt } from '../../src/config/schema-walk.js';
import { nearest, suggestKey } from '../../src/config/suggest.js';

test.each([
  ['modle', ['model', 'mode'], 'model'],
  ['max_steps', ['maxSteps', 'model'], 'maxSteps'],
  ['MAXSTEPS', ['maxSteps'], 'maxSteps'],
  ['enabeld', ['enabled', 'owners'], 'enabled'],
  ['botToken', ['token', 'mode'], 'token'],
  ['temperature', ['model', 'maxSteps'], undefined],
  ['', ['model'], undefined],
])('%j is nearest to %j: %j', (key, names, expected) => {
  expect(nearest(key, names)).toBe(expected);
});

test('a key that belongs elsewhere is sent there, the shortest path first', () => {
  expect(suggestKey('port', configSchema, [])).toBe('gateway.port');
  expect(suggestKey('model', configSchema, [])).toBe('agent.model');
  expect(suggestKey('zzz', configSchema, [])).toBeUndefined();
});

test('every known path is found in the schema', () => {
  expect(knownPaths().length).toBeGreaterThan(60);
  for (const path of knownPaths()) expect(schemaAt(path), path.join('.')).toBeDefined();
});

test('a path is read back as it was written, whatever its names are', () => {
  const name = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.constantFrom('z.ai', 'a b', '0', '"', '<name>'),
  );
  const part = fc.oneof(name, fc.nat(1000));
  fc.assert(
    fc.property(fc.tuple(name, fc.array(part)), ([first, rest]) => {
      expect(parsePath(formatPath([first, ...rest]))).toEqual([first, ...rest]);
    }),
  );
});

test.each(['', '.', 'a.', 'a..b', 'a[', 'a[x]', 'a["x]', 'a]b', 'a[01]'])('%j is no path', (text) => {
  expect(parsePath(text)).toBeUndefined();
});

/** What docs/models.md lists is what the code has. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { platforms } from '../../src/providers/platforms.js';
import { ProviderError, type ProviderErrorKind } from '../../src/providers/provider-error.js';

const text = readFileSync(new URL('../../docs/models.md', import.meta.url), 'utf8');
const rows = text.split('\n').filter((line) => line.startsWith('| `'));
const wordsOf = (line: string) => [...line.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);

test('every platform with its variables, protocol and default model', () => {
  for (const { id, keyVariables, protocol, defaultModel } of platforms) {
    const row = rows.find((line) => line.startsWith(`| \`${id}\``));
    expect(wordsOf(row ?? id)).toEqual(expect.arrayContaining([id, ...keyVariables, protocol, defaultModel]));
  }
});

test('every kind of failure by its code', () => {
  const kinds: Record<ProviderErrorKind, true> = {
    auth: true,
    quota: true,
    'rate-limited': true,
    overloaded: true,
    network: true,
    'context-too-long': true,
    'content-refused': true,
    'bad-request': true,
    'not-found': true,
  };
  const codes = Object.keys(kinds).map((kind) => new ProviderError(kind as ProviderErrorKind, '').code);
  const documented = rows.map((line) => wordsOf(line)[0]!).filter((word) => /^(model|platform)_/.test(word));
  expect(documented).toEqual([...codes, 'platform_unknown', 'platform_without_key', 'model_unknown']);
});

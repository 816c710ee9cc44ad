import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('the client itself needs nothing of Node.js', () => {
  const seen = new Set<string>();
  const outside = new Set<string>();
  const visit = (url: URL) => {
    if (seen.has(url.href)) return;
    seen.add(url.href);
    const source = readFileSync(url, 'utf8').replace(/import type [^;]*;/g, '');
    for (const [, name] of source.matchAll(/from '([^']+)'/g)) {
      if (name!.startsWith('.')) visit(new URL(name!.replace(/\.js$/, '.ts'), url));
      else outside.add(name!);
    }
    if (/\b(process|Buffer)\b\./.test(source)) outside.add(url.href);
  };
  visit(new URL('../../src/client/client.ts', import.meta.url));
  expect([...outside]).toEqual([]);
  expect(seen.size).toBeGreaterThan(5);
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The rooms through which errors leave the daemon. */
const rooms = ['src/gateway', 'src/protocol', 'channels'];

test('every error code of the doors is in docs/errors.md', () => {
  const codes = rooms.flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.includes('page'))
      .flatMap((file) => {
        const source = readFileSync(join(root, room, file), 'utf8');
        return [...source.matchAll(/new UserError\(\s*'([a-z0-9_]+)'/g)].map((match) => match[1]!);
      }),
  );
  const documented = readFileSync(join(root, 'docs/errors.md'), 'utf8');
  expect(codes.length).toBeGreaterThan(20);
  expect([...new Set(codes)].filter((code) => !documented.includes(`\`${code}\``))).toEqual([]);
});

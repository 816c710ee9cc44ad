/** Our own package.json, found from the sources and from the bundle alike. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export function packageInfo(): { root: string; version: string } {
  let root = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    try {
      const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, string>;
      if (name === 'picobot' && version) return { root, version };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    if (dirname(root) === root) throw new Error('The package.json of PicoBot is missing. Install PicoBot again.');
    root = dirname(root);
  }
}

/** The scripts are plain JavaScript without types; a test says what it takes from one. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const repository = join(import.meta.dirname, '../..');

export async function importScript<T>(name: string): Promise<T> {
  return (await import(/* @vite-ignore */ pathToFileURL(join(repository, 'scripts', name)).href)) as T;
}

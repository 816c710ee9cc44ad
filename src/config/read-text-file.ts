/** Reads a small text file whole. */
import { readFileSync } from 'node:fs';
import { ConfigError } from './config-error.js';

/** Undefined when there is no such file. Throws `ConfigError` (`config_unreadable`), also for text that is not UTF-8. */
export function readTextFile(file: string): string | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new ConfigError('config_unreadable', `Cannot read ${file} (${code}). ${whatToDo(code)}`, { cause: error });
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new ConfigError('config_unreadable', `${file} is not UTF-8 text. Save it as UTF-8 and try again.`, {
      cause: error,
    });
  }
}

function whatToDo(code: string | undefined): string {
  if (code === 'EISDIR') return 'It is a folder; a file is expected there.';
  return 'Check that it belongs to you and may be read.';
}

/** What is not wrong but unwise about the files of the home. */
import { statSync } from 'node:fs';
import type { HomePaths } from './home.js';
import { minSecretLength } from './redact.js';

export function homeNotices(paths: HomePaths, token: string): string[] {
  const notices = [paths.configFile, paths.envFile, paths.tokenFile]
    .filter(isReadableByOthers)
    .map((file) => `${file} can be read by other users of this machine. To keep its secrets: chmod 600 "${file}"`);
  if (token && token.length < 16) {
    const log = token.length < minSecretLength ? ', and too short to be kept out of the log' : '';
    notices.push(`The access token has fewer than 16 characters: it is easy to guess${log}.`);
  }
  return notices;
}

function isReadableByOthers(file: string): boolean {
  // Windows has no such bits.
  if (process.platform === 'win32') return false;
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats !== undefined && (stats.mode & 0o004) !== 0;
}

/**
 * One process per workspace. The lock is an exclusive SQLite transaction on `picobot.lock`: the
 * operating system drops it with the process, however that ends, so it is never stale.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { StorageError } from './storage-error.js';

/** Throws `StorageError` `workspace_in_use`, naming the owner's pid. Returns the release. */
export function lockWorkspace(workspace: string, pid: number): () => void {
  const lockFile = join(workspace, 'picobot.lock');
  const pidFile = join(workspace, 'picobot.pid');
  const lock = new BetterSqlite3(lockFile, { timeout: 0 });
  try {
    lock.pragma('locking_mode = EXCLUSIVE');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    throw new StorageError(
      'workspace_in_use',
      `Another PicoBot (process ${ownerOf(pidFile)}) already runs in ${workspace}. Stop it first, or set another PICOBOT_HOME.`,
      { cause: error },
    );
  }
  writeFileSync(pidFile, `${pid}\n`);
  return () => lock.close();
}

function ownerOf(pidFile: string): string {
  try {
    return readFileSync(pidFile, 'utf8').trim();
  } catch {
    return 'unknown';
  }
}

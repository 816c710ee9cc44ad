/** The one SQLite file: opens, checks, migrates and closes it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import type { Config } from '../config/schema.js';
import { migrations as allMigrations } from './migrations/index.js';
import { asStorageError, StorageError } from './storage-error.js';
import { lockWorkspace } from './workspace-lock.js';

export interface Database {
  readonly orm: BetterSQLite3Database;
  /** For what drizzle does not know: virtual tables, pragmas. */
  readonly sqlite: BetterSqlite3.Database;
  readonly file: string;
  /** Synchronous; a call inside another joins it. Throws `StorageError` (`disk_full`, …) or what `work` throws, rolled back. */
  transaction<T>(work: () => T): T;
  /** Marks the stop as clean and gives the lock back. */
  close(): void;
}

export interface DatabaseOptions {
  workspace: string;
  durability: Config['storage']['durability'];
  pid: number;
  /** Only tests give others. */
  migrations?: typeof allMigrations;
}

/**
 * Opens `{workspace}/picobot.db`. Throws `StorageError`: `workspace_in_use`, `workspace_unwritable`,
 * `database_newer`, `database_damaged`, `migration_failed`.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const file = join(options.workspace, 'picobot.db');
  const release = guarded(options.workspace, () => lockWorkspace(options.workspace, options.pid));
  let sqlite: BetterSqlite3.Database | undefined;
  try {
    const existed = existsSync(file);
    sqlite = guarded(options.workspace, () => new BetterSqlite3(file));
    setPragmas(sqlite, options.durability);
    migrate(sqlite, file, existed, options.migrations ?? allMigrations);
    if (!readCleanMark(sqlite)) quickCheck(sqlite, file);
    writeCleanMark(sqlite, false);
    return databaseOver(sqlite, file, release);
  } catch (error) {
    sqlite?.close();
    release();
    throw asStorageError(error);
  }
}

function databaseOver(sqlite: BetterSqlite3.Database, file: string, release: () => void): Database {
  const run = sqlite.transaction((work: () => unknown) => work());
  return {
    orm: drizzle(sqlite),
    sqlite,
    file,
    transaction<T>(work: () => T): T {
      if (sqlite.inTransaction) return work();
      try {
        return run.immediate(work) as T;
      } catch (error) {
        throw asStorageError(error);
      }
    },
    close() {
      if (!sqlite.open) return;
      try {
        writeCleanMark(sqlite, true);
      } finally {
        sqlite.close();
        release();
      }
    },
  };
}

/** `process` (synchronous NORMAL): a commit is in the page cache, so no kill of the process loses it. `power` (FULL): it is on the disk. */
function setPragmas(sqlite: BetterSqlite3.Database, durability: DatabaseOptions['durability']): void {
  sqlite.pragma('journal_mode = WAL');
  sqlite.pragma(`synchronous = ${durability === 'power' ? 'FULL' : 'NORMAL'}`);
  sqlite.pragma('foreign_keys = ON');
  sqlite.pragma('temp_store = MEMORY');
  // A checkpoint waits for the disk: every 16 MB instead of every 4.
  sqlite.pragma('wal_autocheckpoint = 4000');
}

/** All pending migrations in one transaction, after a copy of the old file beside it. */
function migrate(
  sqlite: BetterSqlite3.Database,
  file: string,
  existed: boolean,
  migrations: typeof allMigrations,
): void {
  const version = sqlite.pragma('user_version', { simple: true }) as number;
  if (version > migrations.length) {
    throw new StorageError(
      'database_newer',
      `${file} was written by a newer PicoBot (schema ${version}, this program knows ${migrations.length}). Use that version, or restore the backup made before the upgrade.`,
    );
  }
  if (version === migrations.length) return;
  const backup = existed && version > 0 ? `${file}.schema-${version}.bak` : undefined;
  if (backup && !existsSync(backup)) sqlite.prepare('VACUUM INTO ?').run(backup);
  // A table rebuild under foreign_keys = ON deletes child rows; inside a transaction the pragma does nothing.
  sqlite.pragma('foreign_keys = OFF');
  try {
    sqlite.transaction(() => {
      for (const migration of migrations.slice(version)) sqlite.exec(migration.sql);
      const broken = sqlite.pragma('foreign_key_check') as unknown[];
      if (broken.length > 0) throw new Error(`${broken.length} rows point to rows that are gone`);
      sqlite.pragma(`user_version = ${migrations.length}`);
    })();
  } catch (error) {
    throw new StorageError(
      'migration_failed',
      `Upgrading ${file} from schema ${version} to ${migrations.length} failed; it was left as it was.${backup ? ` A copy is in ${backup}.` : ''}`,
      { cause: error },
    );
  } finally {
    sqlite.pragma('foreign_keys = ON');
  }
}

function readCleanMark(sqlite: BetterSqlite3.Database): boolean {
  const row = sqlite.prepare("SELECT value FROM meta WHERE key = 'clean_stop'").get() as { value: string } | undefined;
  return row === undefined || row.value === '1';
}

function writeCleanMark(sqlite: BetterSqlite3.Database, isClean: boolean): void {
  sqlite
    .prepare("INSERT INTO meta VALUES ('clean_stop', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value")
    .run(isClean ? '1' : '0');
}

function quickCheck(sqlite: BetterSqlite3.Database, file: string): void {
  const rows = sqlite.pragma('quick_check(5)') as { quick_check: string }[];
  if (rows.length === 1 && rows[0]?.quick_check === 'ok') return;
  throw new StorageError(
    'database_damaged',
    `${file} is damaged: ${rows.map((row) => row.quick_check).join('; ')}. Restore a backup, or move the file away to start empty.`,
  );
}

function guarded<T>(workspace: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (error instanceof StorageError) throw error;
    throw new StorageError(
      'workspace_unwritable',
      `Cannot write in the workspace ${workspace}. Check that the folder exists and belongs to you, or set another one.`,
      { cause: error },
    );
  }
}

/** A database that cannot be opened or written. */
import { CodedError } from '../protocol/errors.js';

export class StorageError extends CodedError {}

/** SQLite's own errors as ours, with what to do; anything else unchanged. */
export function asStorageError(error: unknown): unknown {
  const sqliteCode = (error as { code?: unknown } | null)?.code;
  if (typeof sqliteCode !== 'string' || !sqliteCode.startsWith('SQLITE_')) return error;
  const known = reasons.find((reason) => sqliteCode.startsWith(reason.prefix));
  if (known) return new StorageError(known.code, known.message, { cause: error });
  return error;
}

const reasons = [
  {
    prefix: 'SQLITE_FULL',
    code: 'disk_full',
    message: 'The disk is full, so the message could not be stored. Free some space and send it again.',
  },
  {
    prefix: 'SQLITE_READONLY',
    code: 'storage_read_only',
    message: 'The database cannot be written. Check the permissions of the workspace folder.',
  },
  {
    prefix: 'SQLITE_IOERR',
    code: 'storage_failed',
    message: 'The disk refused to read or write the database. Check the disk and the workspace folder.',
  },
  {
    prefix: 'SQLITE_CORRUPT',
    code: 'database_damaged',
    message: 'The database is damaged. Stop the daemon and restore a backup.',
  },
];

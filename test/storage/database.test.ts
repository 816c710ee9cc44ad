import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { getTableConfig } from 'drizzle-orm/sqlite-core';
import { expect, onTestFinished, test } from 'vitest';
import { type Database, openDatabase } from '../../src/storage/database.js';
import { migrations } from '../../src/storage/migrations/index.js';
import * as schema from '../../src/storage/schema.js';
import { tempDir } from '../temp-dir.js';

function open(workspace: string, extra: { migrations?: typeof migrations } = {}): Database {
  const db = openDatabase({ workspace, durability: 'process', pid: 4321, ...extra });
  onTestFinished(() => db.close());
  return db;
}

const codeOf = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return undefined;
};

test('a fresh workspace gets the newest schema in WAL mode', () => {
  const db = open(tempDir());
  expect(db.sqlite.pragma('user_version', { simple: true })).toBe(migrations.length);
  expect(db.sqlite.pragma('journal_mode', { simple: true })).toBe('wal');
});

test('the drizzle tables name exactly the columns that the migrations make', () => {
  const db = open(tempDir());
  for (const table of Object.values(schema)) {
    const config = getTableConfig(table);
    const made = db.sqlite.prepare(`SELECT name FROM pragma_table_info('${config.name}')`).all() as { name: string }[];
    expect(made.map((column) => column.name).sort(), config.name).toEqual(
      config.columns.map((column) => column.name).sort(),
    );
  }
});

test('a second process is refused with the pid of the first', () => {
  const workspace = tempDir();
  open(workspace);
  expect(() => open(workspace)).toThrow(/process 4321/);
  expect(codeOf(() => open(workspace))).toBe('workspace_in_use');
});

test('the lock is free again after close', () => {
  const workspace = tempDir();
  open(workspace).close();
  expect(() => open(workspace)).not.toThrow();
});

test('an upgrade keeps the rows, and a copy of the old file', () => {
  const workspace = tempDir();
  const first = open(workspace, { migrations: migrations.slice(0, 1) });
  first.sqlite.exec("INSERT INTO meta VALUES ('kept', 'yes')");
  first.close();
  const added = [...migrations.slice(0, 1), { name: 'more', sql: 'CREATE TABLE more (id INTEGER)' }];
  const second = open(workspace, { migrations: added });
  expect(second.sqlite.prepare("SELECT value FROM meta WHERE key = 'kept'").pluck().get()).toBe('yes');
  const copy = new BetterSqlite3(join(workspace, 'picobot.db.schema-1.bak'), { readonly: true });
  onTestFinished(() => void copy.close());
  expect(copy.pragma('user_version', { simple: true })).toBe(1);
});

test('rebuilding a parent table in a migration does not delete its children', () => {
  const workspace = tempDir();
  const base = {
    name: 'base',
    sql: 'CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID; CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a INTEGER REFERENCES a ON DELETE CASCADE); INSERT INTO a VALUES (1); INSERT INTO b VALUES (1);',
  };
  open(workspace, { migrations: [base] }).close();
  const rebuild = {
    name: 'rebuild',
    sql: 'CREATE TABLE c (id INTEGER PRIMARY KEY, x); INSERT INTO c (id) SELECT id FROM a; DROP TABLE a; ALTER TABLE c RENAME TO a;',
  };
  const db = open(workspace, { migrations: [base, rebuild] });
  expect(db.sqlite.prepare('SELECT count(*) FROM b').pluck().get()).toBe(1);
});

test('a failing migration leaves the file as it was', () => {
  const workspace = tempDir();
  open(workspace, { migrations: migrations.slice(0, 1) }).close();
  const broken = [
    ...migrations.slice(0, 1),
    { name: 'half', sql: 'CREATE TABLE half (id); SELECT nonsense FROM nowhere;' },
  ];
  expect(codeOf(() => open(workspace, { migrations: broken }))).toBe('migration_failed');
  const db = open(workspace, { migrations: migrations.slice(0, 1) });
  expect(db.sqlite.prepare("SELECT count(*) FROM sqlite_master WHERE name = 'half'").pluck().get()).toBe(0);
});

test('a database from a newer program is refused and not touched', () => {
  const workspace = tempDir();
  open(workspace).close();
  const raw = new BetterSqlite3(join(workspace, 'picobot.db'));
  raw.pragma('user_version = 999');
  raw.close();
  const before = readFileSync(join(workspace, 'picobot.db'));
  expect(codeOf(() => open(workspace))).toBe('database_newer');
  expect(readFileSync(join(workspace, 'picobot.db')).equals(before)).toBe(true);
});

test('a damaged file is found after a stop that was not clean', () => {
  const workspace = tempDir();
  const db = open(workspace);
  for (let row = 0; row < 3000; row += 1)
    db.sqlite.prepare('INSERT INTO meta VALUES (?, ?)').run(`k${row}`, 'x'.repeat(200));
  db.close();
  const file = join(workspace, 'picobot.db');
  const raw = new BetterSqlite3(file);
  raw.exec("UPDATE meta SET value = '0' WHERE key = 'clean_stop'");
  raw.pragma('wal_checkpoint(TRUNCATE)');
  raw.close();
  const bytes = readFileSync(file);
  for (let page = 30; page < 60; page += 1) bytes.fill(0xff, page * 4096, page * 4096 + 1024);
  writeFileSync(file, bytes);
  expect(codeOf(() => open(workspace))).toBe('database_damaged');
});

test('a file that is no database is refused, not replaced', () => {
  const workspace = tempDir();
  writeFileSync(join(workspace, 'picobot.db'), 'this is not a database, but somebody may want it back'.repeat(100));
  expect(() => open(workspace)).toThrow();
  expect(readFileSync(join(workspace, 'picobot.db'), 'utf8')).toContain('somebody may want it back');
});

test('a workspace that does not exist is refused with what to do', () => {
  expect(codeOf(() => open(join(tempDir(), 'missing')))).toBe('workspace_unwritable');
});

test.skipIf(process.getuid?.() === 0)('a workspace without write permission is refused', () => {
  const workspace = tempDir();
  chmodSync(workspace, 0o500);
  expect(codeOf(() => open(workspace))).toBe('workspace_unwritable');
});

test('what throws inside a transaction rolls all of it back', () => {
  const db = open(tempDir());
  expect(() =>
    db.transaction(() => {
      db.sqlite.exec("INSERT INTO meta VALUES ('a', '1')");
      db.transaction(() => db.sqlite.exec("INSERT INTO meta VALUES ('b', '1')"));
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(db.sqlite.prepare("SELECT count(*) FROM meta WHERE key IN ('a', 'b')").pluck().get()).toBe(0);
  expect(existsSync(db.file)).toBe(true);
});

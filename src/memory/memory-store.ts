/**
 * Long-term memory. Writing is one synchronous transaction: row, index and history together; the segmenter's words and
 * the vectors follow in the background. Every read and write names the scopes it may touch.
 */
import type { Config } from '../config/schema.js';
import type { Logger } from '../observability/log.js';
import type { Database } from '../storage/database.js';
import { type Cutter, createCutter } from './cutter.js';
import type { Dictionary } from './dictionary.js';
import { createMemoryFiles, type MemoryFiles } from './memory-files.js';
import { createMemoryIndex, type MemoryIndex } from './memory-index.js';
import { createMemoryReads, type MemoryReads } from './memory-reads.js';
import { createMemoryTable, type MemoryTable } from './memory-table.js';
import { createMemoryUpkeep, type MemoryUpkeep } from './memory-upkeep.js';
import { createMemoryVectors, type Embedder, type MemoryVectors } from './memory-vectors.js';
import { createMemoryWrites, type MemoryWrites } from './memory-writes.js';
import type { Segmenter } from './segmenter.js';
import { realTimers, type Timers } from './timers.js';

export interface MemoryStore extends MemoryReads, MemoryWrites, MemoryFiles, MemoryUpkeep {
  /** Indexes in the background what an engine, dictionary or model change has left behind. Called once at the start. */
  start(): void;
  /** Resolves when index and vectors are up to date, or cannot be made so now. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface MemoryStoreOptions {
  db: Database;
  segmenter: Segmenter;
  dictionary: Dictionary;
  config: Pick<Config['memory'], 'timelineDays'>;
  /** Of the user: when a day ends. */
  timeZone: string;
  now: () => number;
  newId: (prefix: string) => string;
  log: Logger;
  /** Without one, words alone decide. */
  embedder?: Embedder;
  timers?: Timers;
}

export function createMemoryStore(options: MemoryStoreOptions): MemoryStore {
  const { db, embedder, timers = realTimers, log } = options;
  // What is deleted is overwritten with zeros, also where its pages are only freed.
  db.sqlite.pragma('secure_delete = ON');
  const cutter = createCutter(options.segmenter, options.dictionary);
  const index = createMemoryIndex(db, cutter, { timers, log });
  const vectors = embedder && createMemoryVectors(db, embedder, { timers, log });
  const parts: MemoryParts = { ...options, table: createMemoryTable(db), cutter, index, vectors };
  const background = [index.background, ...(vectors ? [vectors.background] : [])];
  const writes = createMemoryWrites(parts);
  return {
    ...createMemoryReads(parts, writes),
    ...writes,
    ...createMemoryFiles(parts, writes),
    ...createMemoryUpkeep(parts),
    start: () => background.forEach((work) => void work.wake()),
    async settled() {
      await Promise.all(background.map((work) => work.settled()));
    },
    async close() {
      await Promise.all(background.map((work) => work.close()));
    },
  };
}

/** What reads, writes and upkeep share. */
export interface MemoryParts extends MemoryStoreOptions {
  table: MemoryTable;
  cutter: Cutter;
  index: MemoryIndex;
  vectors: MemoryVectors | undefined;
}

/** A memory over a database of its own, with a clock that is set by hand and a segmenter that cuts by a list of words. */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createDictionary } from '../../src/memory/dictionary.js';
import { createMemoryStore, type MemoryStore, type MemoryStoreOptions } from '../../src/memory/memory-store.js';
import { type Scope, scope } from '../../src/memory/scopes.js';
import type { Segmenter } from '../../src/memory/segmenter.js';
import { silentLogger } from '../../src/observability/log.js';
import { type Database, openDatabase } from '../../src/storage/database.js';
import { tempDir } from '../temp-dir.js';

export const anna: Scope = scope('user', 'test:anna');
export const ben: Scope = scope('user', 'test:ben');
export const dayMs = 86_400_000;

export interface TestMemory {
  store: MemoryStore;
  db: Database;
  workspace: string;
  dictionaryFile: string;
  clock: { now: number };
  writer: { by: string; writable: Scope[] };
  /** Stores for anna. */
  put(key: string, content: string, more?: Partial<Parameters<MemoryStore['store']>[0]>): string;
  /** Keys, best first, of anna. */
  find(query: string): Promise<string[]>;
  /** Fails when the full-text index does not agree with itself. */
  checkIndex(): void;
}

export function openMemory(options: Partial<MemoryStoreOptions> & { workspace?: string } = {}): TestMemory {
  const workspace = options.workspace ?? tempDir();
  const db = options.db ?? openDatabase({ workspace, durability: 'process', pid: 1 });
  const clock = { now: Date.UTC(2026, 10, 18, 4) };
  const dictionaryFile = join(workspace, 'dictionary.txt');
  let ids = 0;
  const store = createMemoryStore({
    db,
    segmenter: noSegmenter,
    dictionary: createDictionary(dictionaryFile),
    config: { timelineDays: 90 },
    timeZone: 'Asia/Shanghai',
    now: () => clock.now,
    newId: (prefix) => `${prefix}_${ids++}_${clock.now}`,
    log: silentLogger(),
    ...options,
  });
  const writer = { by: 'test', writable: [anna, ben] };
  onTestFinished(async () => {
    await store.close();
    db.close();
  });
  return {
    store,
    db,
    workspace,
    dictionaryFile,
    clock,
    writer,
    put: (key, content, more) => store.store({ scope: anna, key, content, ...more }, writer).entry.id,
    async find(query) {
      const found = await store.recall(query, { scopes: [anna] });
      return found.map((entry) => entry.key);
    },
    checkIndex: () => checkIndex(db),
  };
}

export function checkIndex({ sqlite }: Database): void {
  sqlite.exec("INSERT INTO memory_index (memory_index, rank) VALUES ('integrity-check', 1)");
  sqlite.exec("INSERT INTO transcript_index (transcript_index) VALUES ('integrity-check')");
}

export const noSegmenter: Segmenter = {
  engine: () => undefined,
  cut: async () => undefined,
  state: () => ({ isLoaded: false, pid: undefined, waiting: 0, crashes: 0 }),
  close: async () => {},
};

/** Cuts at the given words; everything else into single characters. `engine` and `isReady` may be changed at any time. */
export function listSegmenter(words: string[], engine = 'list 1') {
  const known = [...words].sort((a, b) => b.length - a.length);
  const segmenter = {
    label: engine,
    isReady: true,
    cuts: 0,
    engine: () => segmenter.label,
    async cut(runs: readonly string[], { wait }: { wait: boolean }) {
      if (!segmenter.isReady && !wait) return undefined;
      if (runs.length > 0) segmenter.cuts += 1;
      return { words: runs.map((run) => cutRun(run, known)), engine: segmenter.label };
    },
    state: () => ({ isLoaded: true, pid: undefined, waiting: 0, crashes: 0 }),
    close: async () => {},
  };
  return segmenter satisfies Segmenter;
}

function cutRun(run: string, words: readonly string[]): string[] {
  const cut: string[] = [];
  for (let at = 0; at < run.length; ) {
    const word = words.find((candidate) => run.startsWith(candidate, at)) ?? run[at]!;
    cut.push(word);
    at += word.length;
  }
  return cut;
}

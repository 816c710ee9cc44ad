/** Recall quality on the labelled set beside it, against plain alternatives. JSON on stdout, a table on stderr. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDictionary } from '../../src/memory/dictionary.js';
import { createMemoryStore } from '../../src/memory/memory-store.js';
import { scope } from '../../src/memory/scopes.js';
import { createSegmenter, type Segmenter } from '../../src/memory/segmenter.js';
import { silentLogger } from '../../src/observability/log.js';
import { newId } from '../../src/protocol/ids.js';
import { openDatabase } from '../../src/storage/database.js';
import { intlSearch, likeSearch, type Memory, type Search, trigramSearch, unicodeSearch } from './baselines.js';

interface Query {
  kind: string;
  text: string;
  expected: Set<string>;
}

const folder = process.argv[2]!;
const isVerbose = process.argv.includes('--misses');
const read = <T>(name: string): T => JSON.parse(readFileSync(join(folder, name), 'utf8')) as T;
const labelled = read<[string, string][]>('memories.json').map(([key, content]): Memory => ({ key, content }));
const queries = read<[string, string, string][]>('queries.json').map(
  ([kind, text, expected]): Query => ({ kind, text, expected: new Set(expected.split('|')) }),
);
const log = silentLogger();
const noSegmenter: Segmenter = {
  engine: () => undefined,
  cut: async () => undefined,
  state: () => ({ isLoaded: false, pid: undefined, waiting: 0, crashes: 0 }),
  close: async () => {},
};

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});

async function main(): Promise<void> {
  const keepAlive = setInterval(() => {}, 1000);
  const results = [];
  for (const noise of [0, 1000]) results.push(await compare([...labelled, ...noiseOf(noise)], noise));
  clearInterval(keepAlive);
  console.log(JSON.stringify({ benchmark: 'recall', memories: labelled.length, queries: queries.length, results }));
}

async function compare(memories: readonly Memory[], noise: number) {
  const rows = [];
  for (const [name, search] of [
    ['LIKE', likeSearch(memories)],
    ['FTS5 unicode61', unicodeSearch(memories)],
    ['FTS5 trigram', trigramSearch(memories)],
    ['Intl.Segmenter tokens', intlSearch(memories)],
  ] as const) {
    rows.push(await measure(name, search));
  }
  for (const [name, segmenter] of [
    ['PicoBot, pairs only (segmenter not loaded)', noSegmenter],
    ['PicoBot, @node-rs/jieba', createSegmenter({ choice: '@node-rs/jieba', log })],
    ['PicoBot, nodejieba', createSegmenter({ choice: 'nodejieba', log })],
  ] as const) {
    rows.push(await measureOurs(name, segmenter, memories));
  }

  const kinds = [...new Set(queries.map((query) => query.kind))];
  console.error(
    `recall@5 and MRR, ${labelled.length} memories and ${noise} of random words, ${queries.length} queries; "all" leaves out synonyms`,
  );
  console.error(
    ['all @5', 'all MRR', ...kinds.map((kind) => kind.slice(0, 8))].map((head) => head.padStart(9)).join(''),
  );
  for (const row of rows) {
    const figures = [row.recallAt5, row.mrr, ...kinds.map((kind) => row.byKind[kind]!.recallAt5)];
    console.error(`${figures.map((figure) => figure.toFixed(3).padStart(9)).join('')}  ${row.name}`);
  }
  return { noise, rows };
}

async function measureOurs(name: string, segmenter: Segmenter, memories: readonly Memory[]) {
  const workspace = mkdtempSync(join(tmpdir(), 'picobot-bench-'));
  const db = openDatabase({ workspace, durability: 'process', pid: process.pid });
  const dictionary = createDictionary(join(workspace, 'dictionary.txt'));
  const options = { db, segmenter, dictionary, config: { timelineDays: 90 }, timeZone: 'Asia/Shanghai' };
  const store = createMemoryStore({ ...options, now: () => 1_764_000_000_000, newId, log });
  try {
    const owner = scope('user', 'bench:1');
    db.transaction(() => {
      for (const memory of memories) store.store({ ...memory, scope: owner }, { by: 'bench', writable: [owner] });
    });
    await store.settled();
    await segmenter.cut(['先等词典'], { wait: true });
    return await measure(name, async (query, limit) => {
      const found = await store.recall(query, { scopes: [owner], limit });
      return found.map((entry) => entry.key);
    });
  } finally {
    await store.close();
    await segmenter.close();
    db.close();
    rmSync(workspace, { recursive: true });
  }
}

async function measure(name: string, search: Search) {
  const results: { kind: string; place: number }[] = [];
  for (const query of queries) {
    const found = await search(query.text, 10);
    const place = found.findIndex((key) => query.expected.has(key)) + 1;
    results.push({ kind: query.kind, place });
    if (isVerbose && name.startsWith('PicoBot') && (place === 0 || place > 5)) {
      console.error(
        `${name}: ${query.kind} "${query.text}" → ${[...query.expected]}, place ${place}, got ${found.slice(0, 3)}`,
      );
    }
  }
  const figures = (of: typeof results) => ({
    recallAt5: of.filter(({ place }) => place >= 1 && place <= 5).length / of.length,
    mrr: of.reduce((sum, { place }) => sum + (place > 0 ? 1 / place : 0), 0) / of.length,
  });
  const kinds = [...new Set(results.map((result) => result.kind))];
  const byKind = Object.fromEntries(kinds.map((kind) => [kind, figures(results.filter((r) => r.kind === kind))]));
  return { name, ...figures(results.filter((result) => result.kind !== 'synonym')), byKind };
}

/** Memories of six words each, drawn from the labelled ones: every word of a query has false friends. The same in every run. */
function noiseOf(count: number): Memory[] {
  const segmenter = new Intl.Segmenter('zh', { granularity: 'word' });
  const words = labelled.flatMap(({ content }) =>
    [...segmenter.segment(content)].filter((part) => part.isWordLike).map((part) => part.segment),
  );
  let state = 1;
  const word = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return words[Math.floor((state / 2 ** 32) * words.length)]!;
  };
  return Array.from({ length: count }, (_, index) => ({
    key: `noise ${index}`,
    content: [word(), word(), word(), word(), word(), word()].join(' '),
  }));
}

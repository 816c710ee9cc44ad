/**
 * Speed of memory and transcript search at size: `--memories` (default 100,000) and `--messages` (default 1,000,000).
 * JSON on stdout, a table on stderr.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as nextTick } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createDictionary } from '../src/memory/dictionary.js';
import { createMemoryStore, type MemoryStore } from '../src/memory/memory-store.js';
import { type Scope, scope } from '../src/memory/scopes.js';
import { createSegmenter } from '../src/memory/segmenter.js';
import { createTranscriptIndex, type TranscriptIndex } from '../src/memory/transcript-index.js';
import { silentLogger } from '../src/observability/log.js';
import { newId } from '../src/protocol/ids.js';
import { type Database, openDatabase } from '../src/storage/database.js';
import { createTextSource } from './generated-text.js';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    memories: { type: 'string', default: '100000' },
    messages: { type: 'string', default: '1000000' },
    scopes: { type: 'string', default: '100' },
    sessions: { type: 'string', default: '2000' },
  },
});
const [memoryCount, messageCount] = [Number(values.memories), Number(values.messages)];
const source = createTextSource(20_261_118);
const rows: { figure: string; value: number | string; goal: string }[] = [];
const add = (figure: string, value: number | string, goal = '') => {
  rows.push({ figure, value, goal });
  console.error(`${figure.padEnd(72)}${String(value).padStart(16)}  ${goal}`);
};

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});

async function main(): Promise<void> {
  const keepAlive = setInterval(() => {}, 1000);
  const workspace = mkdtempSync(join(tmpdir(), 'picobot-bench-'));
  const db = openDatabase({ workspace, durability: 'process', pid: process.pid });
  const log = silentLogger();
  const segmenter = createSegmenter({ choice: 'auto', log });
  const dictionary = createDictionary(join(workspace, 'dictionary.txt'));
  const shared = { db, segmenter, dictionary, log, now: Date.now };
  const store = createMemoryStore({ ...shared, config: { timelineDays: 90 }, timeZone: 'Asia/Shanghai', newId });
  const index = createTranscriptIndex(shared);
  try {
    const scopes = Array.from({ length: Number(values.scopes) }, (_, number) => scope('user', `bench:${number}`));
    await fillMemories(store, scopes);
    await fillTranscripts(db, index);
    add('database, MB', Math.round(statSync(db.file).size / 1e6));
    await measureAlone(store, index, scopes);
    await measureTogether({ db, store, index, scopes }, false);
    await measureTogether({ db, store, index, scopes }, true);
    console.log(JSON.stringify({ benchmark: 'memory-speed', memories: memoryCount, messages: messageCount, rows }));
  } finally {
    await Promise.all([store.close(), index.close(), segmenter.close()]);
    db.close();
    rmSync(workspace, { recursive: true });
    clearInterval(keepAlive);
  }
}

interface Parts {
  db: Database;
  store: MemoryStore;
  index: TranscriptIndex;
  scopes: Scope[];
}

async function fillMemories(store: MemoryStore, scopes: Scope[]): Promise<void> {
  const writer = { by: 'bench', writable: scopes };
  // Made before the clock starts; the number makes each its own.
  const texts = Array.from({ length: Math.min(10_000, memoryCount) }, () => source.text());
  const startedAt = performance.now();
  const processorBefore = process.cpuUsage();
  for (let number = 0; number < memoryCount; number++) {
    const owner = scopes[number % scopes.length]!;
    store.store(
      {
        scope: owner,
        key: `fact ${number}`,
        content: `${texts[number % texts.length]}${number}`,
        importance: (number % 10) / 10,
      },
      writer,
    );
    if (number % 50 === 0) await nextTick();
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(processorBefore);
  add('memories stored per second, one transaction each', Math.round(memoryCount / seconds), '>= 2000');
  add('… processor time each, ms', ((user + system) / 1000 / memoryCount).toFixed(2));
  await store.settled();
  add('… seconds until the segmenter had cut them all as well', Math.round((performance.now() - startedAt) / 1000));
}

async function fillTranscripts(db: Database, index: TranscriptIndex): Promise<void> {
  const sessions = Number(values.sessions);
  const addSession = db.sqlite.prepare(
    "INSERT INTO sessions (key, id, scope, title, title_source, created_at, last_active_at) VALUES (?, ?, 'bench:1', '', 'default', 0, 0)",
  );
  db.transaction(() => {
    for (let key = 1; key <= sessions; key++) addSession.run(key, `bench:1:${key}`);
  });
  const insert = messageInserter(db);
  for (let number = 0; number < messageCount; ) {
    db.transaction(() => {
      for (let count = 0; count < 1000 && number < messageCount; count++, number++)
        insert(1 + source.integer(sessions));
    });
    await nextTick();
  }
  const processorBefore = process.cpuUsage();
  const startedAt = performance.now();
  index.wake();
  const loop = monitorEventLoopDelay({ resolution: 5 });
  loop.enable();
  await index.settled();
  const { user, system } = process.cpuUsage(processorBefore);
  add(
    'messages indexed per second in the background',
    Math.round(messageCount / ((performance.now() - startedAt) / 1000)),
    '>= 2000',
  );
  add('… processor time each, ms', ((user + system) / 1000 / messageCount).toFixed(3), '< 0.1 on the hot path: 0');
  add('… event-loop delay p99 meanwhile, ms', (loop.percentile(99) / 1e6 - 5).toFixed(1), '< 20');
}

function messageInserter(db: Database): (session: number) => void {
  const insert = db.sqlite.prepare(
    `INSERT INTO events (session_key, id, run_id, turn, type, audience, body, at) VALUES (?, ?, 'run', 1, ?, 'both', ?, ?)`,
  );
  let id = db.sqlite.prepare('SELECT coalesce(max(id), 0) FROM events').pluck().get() as number;
  return (session) => {
    const type = source.integer(2) === 0 ? 'user-message' : 'assistant-message';
    insert.run(session, ++id, type, JSON.stringify({ text: source.text() }), 1_700_000_000_000 + id * 1000);
  };
}

async function measureAlone(store: MemoryStore, index: TranscriptIndex, scopes: Scope[]): Promise<void> {
  const asker = () => Array.from({ length: 3 }, () => scopes[source.integer(scopes.length)]!);
  add(
    'recall p50 / p95, ms',
    await times(500, () => store.recall(source.question(), { scopes: asker(), limit: 5 })),
    'p95 <= 10',
  );
  const message = () => `${source.text()}${source.text()}${source.text()}`;
  add(
    'recall for a whole message of some sentences p50 / p95, ms',
    await times(300, () => store.recall(message(), { scopes: asker(), limit: 5 })),
  );
  const search = (options: object) => () => index.search(source.question(), options);
  add('transcript search over everything p50 / p95, ms', await times(300, search({})), 'p95 <= 50');
  const sessionKeys = Array.from({ length: 20 }, () => 1 + source.integer(Number(values.sessions)));
  add('transcript search in 20 sessions p50 / p95, ms', await times(300, search({ sessionKeys })), 'p95 <= 50');
  add('transcript search, newest first p50 / p95, ms', await times(300, search({ recent: true })), 'p95 <= 50');
}

/** Everything by turns, without a pause: the worst that a busy bot does. An idle process beside it shows what the machine adds. */
async function measureTogether({ db, store, index, scopes }: Parts, withWrites: boolean): Promise<void> {
  const writer = { by: 'bench', writable: scopes };
  const insert = messageInserter(db);
  const idle = idleProcess();
  const loop = monitorEventLoopDelay({ resolution: 5 });
  loop.enable();
  const until = performance.now() + 15_000;
  const counts = { recall: 0, search: 0, store: 0, message: 0 };
  const forever = async (name: keyof typeof counts, work: () => unknown) => {
    while (performance.now() < until) {
      await work();
      counts[name] += 1;
      await nextTick();
    }
  };
  const owner = () => scopes[source.integer(scopes.length)]!;
  await Promise.all([
    forever('recall', () => store.recall(source.question(), { scopes: [owner(), owner(), owner()], limit: 5 })),
    forever('search', () => index.search(source.question(), {})),
    withWrites &&
      forever('store', () =>
        store.store({ scope: owner(), key: `new ${counts.store}`, content: source.text() }, writer),
      ),
    withWrites &&
      forever('message', () => {
        db.transaction(() => insert(1 + source.integer(Number(values.sessions))));
        index.wake();
      }),
  ]);
  loop.disable();
  const what = withWrites ? 'recalls, searches, stores, messages' : 'recalls, searches';
  const done = Object.values(counts).filter((count) => count > 0);
  add(`15 s of ${what} at once`, done.join(' '));
  const delay = (share: number) => (loop.percentile(share) / 1e6 - 5).toFixed(1);
  add('… event-loop delay p50 / p99, ms', `${delay(50)} / ${delay(99)}`, withWrites ? '' : 'p99 < 20');
  add('… the same of an idle process meanwhile, ms', await idle);
}

function idleProcess(): Promise<string> {
  const program = `const loop = require('perf_hooks').monitorEventLoopDelay({ resolution: 5 }); loop.enable();
    setTimeout(() => console.log([50, 99].map((share) => (loop.percentile(share) / 1e6 - 5).toFixed(1)).join(' / ')), 15000)`;
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ['-e', program], (error, output) => (error ? reject(error) : resolve(output.trim())));
  });
}

async function times(count: number, work: () => Promise<unknown>): Promise<string> {
  const measured: number[] = [];
  for (let round = 0; round < count + 20; round++) {
    const startedAt = performance.now();
    await work();
    if (round >= 20) measured.push(performance.now() - startedAt);
    await nextTick();
  }
  measured.sort((a, b) => a - b);
  const at = (share: number) => measured[Math.floor(count * share)]!.toFixed(1);
  return `${at(0.5)} / ${at(0.95)}`;
}

import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createDictionary } from '../../src/memory/dictionary.js';
import type { Segmenter } from '../../src/memory/segmenter.js';
import type { TranscriptQuery } from '../../src/memory/transcript-filter.js';
import { createTranscriptIndex } from '../../src/memory/transcript-index.js';
import { silentLogger } from '../../src/observability/log.js';
import { type Database, openDatabase } from '../../src/storage/database.js';
import { tempDir } from '../temp-dir.js';
import { checkIndex, listSegmenter, noSegmenter } from './open-memory.js';

interface Options {
  segmenter?: Segmenter;
  workspace?: string;
}

function openTranscripts({ segmenter = noSegmenter, workspace = tempDir() }: Options = {}) {
  const db = openDatabase({ workspace, durability: 'process', pid: 1 });
  const clock = { now: 1_000_000 };
  const dictionary = createDictionary(join(workspace, 'dictionary.txt'));
  const index = createTranscriptIndex({ db, segmenter, dictionary, log: silentLogger(), now: () => clock.now });
  const close = async () => {
    await index.close();
    db.close();
  };
  onTestFinished(close);
  const session = (name: string) => addSession(db, name);
  let eventId = 0;
  return {
    db,
    index,
    clock,
    workspace,
    close,
    session,
    /** Stores a message without waking the index; returns its key. */
    say(sessionKey: number, text: string, type = 'user-message') {
      eventId += 1;
      clock.now += 1000;
      return Number(
        db.sqlite
          .prepare(
            "INSERT INTO events (session_key, id, run_id, turn, type, audience, body, at) VALUES (?, ?, 'run', 1, ?, 'both', ?, ?)",
          )
          .run(sessionKey, eventId, type, JSON.stringify({ text, toolCalls: [] }), clock.now).lastInsertRowid,
      );
    },
    async indexed() {
      index.wake();
      await index.settled();
    },
    async find(query: string, options: TranscriptQuery = {}) {
      return (await index.search(query, options)).map((hit) => hit.eventKey);
    },
  };
}

function addSession({ sqlite }: Database, name: string): number {
  return Number(
    sqlite
      .prepare(
        "INSERT INTO sessions (id, scope, title, title_source, created_at, last_active_at) VALUES (?, 'telegram:1', '', 'default', 0, 0)",
      )
      .run(`telegram:1:${name}`).lastInsertRowid,
  );
}

test('messages are found before and after they are indexed, with the hit marked', async () => {
  const { session, say, index, indexed } = openTranscripts();
  const main = session('main');
  const key = say(main, 'The controller reboots when the Watchdog fires');
  const [before] = await index.search('watchdog', {});
  expect(before).toMatchObject({ eventKey: key, sessionKey: main, eventId: 1, role: 'user', runId: 'run' });
  expect(before?.snippet).toBe('The controller reboots when the ⟦Watchdog⟧ fires');
  expect(index.stats().indexedTo).toBe(0);
  await indexed();
  expect(index.stats()).toEqual({ indexedTo: key, lastEvent: key, isCuttingAnew: false });
  const [after] = await index.search('watchdog', {});
  expect(after?.snippet).toBe(before?.snippet);
});

test.each([
  ['市长', '⟦市长⟧'],
  ['武漢', '⟦武汉⟧'],
  ['sap-1293164', '⟦SAP⟧-⟦1293164⟧'],
  ['1293164', 'SAP-⟦1293164⟧'],
  ['ＳＡＰ', '⟦SAP⟧'],
  ['长', '⟦长⟧'],
  ['meetings', '⟦meeting⟧'],
  ['cafe', '⟦Café⟧'],
  ['机器人大会', '⟦机器人大会⟧'],
])('%s is found in Chinese, Latin and mixed text', async (query, marked) => {
  for (const segmenter of [noSegmenter, listSegmenter(['武汉', '市长', '出席', '机器人', '大会'])]) {
    const { session, say, index, indexed } = openTranscripts({ segmenter });
    const main = session('main');
    say(main, 'something else, and 别的事情');
    const key = say(main, '武汉市长出席了机器人大会，SAP-1293164，a meeting at the Café');
    const unindexed = await index.search(query, {});
    await indexed();
    const hits = await index.search(query, {});
    expect(hits.map((hit) => hit.eventKey)).toEqual([key]);
    expect(unindexed.map((hit) => hit.eventKey)).toEqual([key]);
    expect(hits[0]?.snippet).toContain(marked);
  }
});

test('messages with all words come first, then those with the rarest', async () => {
  const { session, say, find, indexed } = openTranscripts();
  const main = session('main');
  const one = say(main, 'the budget was discussed');
  const both = say(main, 'the budget that Helen approved');
  const other = say(main, 'Helen is on holiday');
  await indexed();
  const keys = await find('Helen budget');
  expect(keys[0]).toBe(both);
  expect(keys.sort()).toEqual([one, both, other]);
});

test('role, time and session narrow what is found, newest first on request', async () => {
  const { session, say, find, indexed, clock } = openTranscripts();
  const [a, b] = [session('a'), session('b')];
  const first = say(a, 'tea tea tea');
  const answer = say(a, 'tea is ready', 'assistant-message');
  const middle = clock.now;
  const elsewhere = say(b, 'tea elsewhere, among many other words that say nothing about it');
  say(a, 'tea', 'tool-result');
  await indexed();
  const sorted = async (options: TranscriptQuery) => (await find('tea', options)).sort();
  expect(await sorted({})).toEqual([first, answer, elsewhere]);
  expect(await sorted({ role: 'assistant' })).toEqual([answer]);
  expect(await sorted({ sessionKeys: [b] })).toEqual([elsewhere]);
  expect(await sorted({ sessionKeys: [] })).toEqual([]);
  expect(await sorted({ after: middle })).toEqual([elsewhere]);
  expect(await sorted({ before: middle })).toEqual([first]);
  expect(await find('tea', { recent: true })).toEqual([elsewhere, answer, first]);
  expect(await find('tea', { recent: true, limit: 2 })).toEqual([elsewhere, answer]);
  expect(await find('', { recent: true, sessionKeys: [a] })).toEqual([answer, first]);
  expect(await find('  ')).toEqual([]);
});

test('nothing of another session is found, also with more sessions than the index can name', async () => {
  const { session, say, find, indexed } = openTranscripts();
  const sessions = Array.from({ length: 60 }, (_, index) => session(`s${index}`));
  const keys = sessions.map((key) => say(key, `the secret of session ${key} 秘密`));
  for (const when of ['before', 'after']) {
    if (when === 'after') await indexed();
    for (const [index, key] of sessions.entries()) {
      expect(await find('secret 秘密', { sessionKeys: [key] })).toEqual([keys[index]]);
    }
    expect(await find('secret', { sessionKeys: sessions.slice(5), limit: 100 })).toHaveLength(55);
  }
});

test('deleted sessions are left out unless they are named', async () => {
  const { session, say, find, indexed, db } = openTranscripts();
  const gone = session('gone');
  const key = say(gone, 'tea');
  await indexed();
  db.sqlite.prepare('UPDATE sessions SET deleted_at = 1 WHERE key = ?').run(gone);
  expect(await find('tea')).toEqual([]);
  expect(await find('tea', { sessionKeys: [gone] })).toEqual([key]);
});

test('user text is never read as search syntax', async () => {
  const { session, say, find, indexed } = openTranscripts();
  const key = say(session('main'), 'ticket POL-358 about the multi-agent plan');
  await indexed();
  say(session('next'), 'ticket POL-359 about nothing');
  for (const query of ['POL-358', 'multi-agent', 'plan ticket multi']) expect((await find(query))[0]).toBe(key);
  for (const query of ['*', '(', '-', '"', '🎉', '^', ':', '\0', 'C++']) expect(await find(query)).toEqual([]);
  for (const text of ['市长', 'a ', '"', 'POL-358 ', '· §1 ']) await find(text.repeat(10_000 / text.length));
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc
          .array(
            fc.constantFrom('"', '*', '(', ')', ' AND ', ' NOT ', 'NEAR', '市长', 'pol', ':', '^', '-', '§1', '·', '{'),
          )
          .map((list) => list.join('')),
      ),
      async (query) => void (await find(query)),
    ),
    { numRuns: 200 },
  );
});

test('another engine or dictionary cuts everything anew, and new messages do not wait for that', async () => {
  const first = openTranscripts({ segmenter: listSegmenter(['武汉市']) });
  const main = first.session('main');
  for (let index = 0; index < 250; index++) first.say(main, `武汉市第${index}号`);
  await first.indexed();
  await first.close();
  const segmenter = listSegmenter(['武汉'], 'list 2');
  const second = openTranscripts({ segmenter, workspace: first.workspace });
  const indexed = () =>
    second.db.sqlite.prepare('SELECT count(*) FROM transcript_index WHERE transcript_index MATCH ?').pluck();
  expect(indexed().get('"武汉市"')).toBe(250);
  await second.indexed();
  expect(indexed().get('"武汉市"')).toBe(0);
  expect(indexed().get('"武汉"')).toBe(250);
  expect(second.index.stats().isCuttingAnew).toBe(false);
  expect(second.db.sqlite.prepare('SELECT count(*) FROM transcript_index').pluck().get()).toBe(250);
  checkIndex(second.db);
});

test('without the segmenter messages are indexed by pairs, and cut when it is back', async () => {
  const segmenter = listSegmenter(['武汉', '市长']);
  const { cut } = segmenter;
  segmenter.cut = async () => undefined;
  const { session, say, find, indexed, index, db } = openTranscripts({ segmenter });
  const main = session('main');
  const key = say(main, '武汉市长出席');
  await indexed();
  expect(index.stats()).toMatchObject({ indexedTo: key, isCuttingAnew: true });
  expect(await find('市长')).toEqual([key]);
  segmenter.cut = cut;
  await indexed();
  expect(index.stats().isCuttingAnew).toBe(false);
  expect(
    db.sqlite.prepare('SELECT count(*) FROM transcript_index WHERE transcript_index MATCH ?').pluck().get('"市长"'),
  ).toBe(1);
});

test('English messages never ask for the segmenter', async () => {
  const segmenter = listSegmenter([]);
  const { session, say, find, indexed } = openTranscripts({ segmenter });
  say(session('main'), 'only English here');
  await indexed();
  await find('English');
  expect(segmenter.cuts).toBe(0);
});

test('long messages are found by what stands in them, and shown in part', async () => {
  const { session, say, index, indexed } = openTranscripts();
  const key = say(session('main'), `${'前面的话。'.repeat(1500)}关键的线索${'后面的话。'.repeat(500)}`);
  await indexed();
  const [hit] = await index.search('线索', {});
  expect(hit?.eventKey).toBe(key);
  expect(hit?.snippet).toMatch(/^….*关键的⟦线索⟧.*…$/);
  expect(hit!.snippet.length).toBeLessThan(180);
});

test('what is indexed is stored with how far it is, so a stop in between loses and repeats nothing', async () => {
  const first = openTranscripts();
  const main = first.session('main');
  for (let index = 0; index < 500; index++) first.say(main, `message number ${index}`);
  first.index.wake();
  while (first.index.stats().indexedTo === 0) await new Promise((resolve) => setImmediate(resolve));
  await first.close();
  const second = openTranscripts({ workspace: first.workspace });
  expect(second.index.stats().indexedTo).toBeLessThan(500);
  expect(await second.find('499')).toHaveLength(1);
  await second.indexed();
  expect(second.index.stats().indexedTo).toBe(500);
  expect(second.db.sqlite.prepare('SELECT count(*) FROM transcript_index').pluck().get()).toBe(500);
  checkIndex(second.db);
});

test('a slice that cannot be stored is done again', async () => {
  const { session, say, find, indexed, index, db } = openTranscripts();
  const key = say(session('main'), 'tea in the garden');
  db.sqlite.exec(
    "CREATE TRIGGER no BEFORE INSERT ON meta WHEN new.key = 'transcript_index' BEGIN SELECT raise(ABORT, 'no room'); END",
  );
  await indexed();
  expect(index.stats().indexedTo).toBe(0);
  expect(await find('garden')).toEqual([key]);
  db.sqlite.exec('DROP TRIGGER no');
  await indexed();
  expect(index.stats().indexedTo).toBe(key);
  expect(await find('garden')).toEqual([key]);
});

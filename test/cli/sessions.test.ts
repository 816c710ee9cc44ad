import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type SessionsAction, type SessionsOptions, sessionsCommand } from '../../src/cli/sessions.js';
import { statusCommand } from '../../src/cli/status.js';
import { type FakeServer, sendJson, startFakeServer } from '../client/fake-server.js';

const session = {
  id: 'cli_chat:terminal:d_1',
  channel: 'cli_chat',
  chatId: 'terminal',
  dialogId: 'd_1',
  title: '关于数据库 \x1b[2J迁移',
  messageCount: 2,
  usage: {},
  createdAt: 0,
  lastActiveAt: Date.UTC(2026, 10, 30, 12),
  archived: false,
  current: true,
  busy: true,
};

let fake: FakeServer;
let out: string;
let err: string;
/** By `METHOD path`. */
let answers: Record<string, unknown>;
let bodies: string[];

beforeEach(async () => {
  fake = await startFakeServer();
  out = '';
  err = '';
  bodies = [];
  answers = {};
  fake.onRequest = (request, response, body) => {
    bodies.push(body);
    const key = `${request.method} ${request.url}`;
    if (key in answers) sendJson(response, 200, answers[key]);
    else sendJson(response, 404, { error: { code: 'session_not_found', message: `No ${key}.` } });
  };
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += text;
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    err += text;
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());

const run = (action: SessionsAction, args: string[] = [], options: SessionsOptions = {}) =>
  sessionsCommand(action, args, { url: fake.url, token: 't', ...options });

describe('sessions', () => {
  test('are listed in columns, over as many pages as it takes', async () => {
    answers['GET /api/sessions?limit=20'] = { items: [session], nextCursor: 'c' };
    answers['GET /api/sessions?limit=19&cursor=c'] = { items: [{ ...session, id: 'http:default:x', busy: false }] };
    expect(await run('list')).toBe(0);
    expect(out.split('\n')).toEqual([
      'ID                     TITLE               MESSAGES  LAST ACTIVE       STATE',
      expect.stringMatching(
        /^cli_chat:terminal:d_1 {2}关于数据库 \[2J迁移 {2}2 {9}2026-11-30 \d\d:00 {2}current, busy$/,
      ),
      expect.stringMatching(/^http:default:x /),
      '',
    ]);
    out = '';
    answers['GET /api/sessions?channel=telegram&chatId=7&archived=true&limit=1'] = {
      items: [session],
      nextCursor: 'c',
    };
    await run('list', [], { channel: 'telegram', chat: '7', archived: true, limit: 1, json: true });
    expect(JSON.parse(out)).toEqual({ items: [session] });
  });

  test('are shown with their tool calls, without what steers a terminal', async () => {
    answers[`GET /api/sessions/${encodeURIComponent(session.id)}`] = session;
    const toolCalls = [{ callId: 'c', name: 'calculator', input: { expression: '1+1' }, state: 'done', output: '2' }];
    answers[`GET /api/sessions/${encodeURIComponent(session.id)}/messages?limit=20`] = {
      items: [
        { id: 1, runId: 'r', role: 'user', text: 'hello\x1b[2J', at: 0 },
        { id: 2, runId: 'r', role: 'assistant', text: '**hi**', at: 0, toolCalls },
      ],
      nextCursor: '1',
    };
    expect(await run('show', [session.id])).toBe(0);
    expect(out).toMatch(
      /^关于数据库 \[2J迁移 {2}cli_chat:terminal:d_1\n\n\(older messages[^\n]*\n\nyou {2}[^\n]*\nhello\[2J\n\nPicoBot {2}[^\n]*\n\*\*hi\*\*\n⚙ calculator 1\+1 → 2\n$/,
    );
    out = '';
    await run('show', [session.id], { json: true });
    expect(JSON.parse(out)).toMatchObject({
      session: { id: session.id },
      messages: [{ id: 1 }, { id: 2 }],
      nextCursor: '1',
    });
  });

  test('are changed by the beginning of their id', async () => {
    answers['GET /api/sessions?archived=false&limit=200'] = { items: [session] };
    answers['GET /api/sessions?archived=true&limit=200'] = { items: [{ ...session, id: 'x:y:d_2', dialogId: 'd_2' }] };
    answers[`PATCH /api/sessions/${encodeURIComponent(session.id)}`] = { ...session, title: 'new name' };
    answers['POST /api/sessions/x%3Ay%3Ad_2/restore'] = session;
    expect(await run('rename', ['d_1', 'new', 'name'])).toBe(0);
    expect(bodies).toContain('{"title":"new name"}');
    expect(await run('archive', ['d_1'])).toBe(0);
    expect(bodies).toContain('{"archived":true}');
    expect(await run('restore', ['d_2'])).toBe(0);
    await expect(run('rename', ['d_', 'x'])).rejects.toMatchObject({ code: 'ambiguous_id' });
    await expect(run('delete', ['e_'])).rejects.toMatchObject({ code: 'session_not_found' });
    await expect(run('delete', ['a:b:c'])).rejects.toMatchObject({ code: 'session_not_found' });
  });

  test('are searched', async () => {
    answers['GET /api/search?query=two+words&limit=3&role=user'] = {
      items: [{ sessionId: 'a:b:c', messageId: 'm', role: 'user', at: 0, snippet: 'with ⟦two words⟧ in it' }],
    };
    expect(await run('search', ['two', 'words'], { role: 'user', limit: 3 })).toBe(0);
    expect(out).toContain('with ⟦two words⟧ in it');
  });

  test('wrong use is told before anything is asked', async () => {
    const wrong: [SessionsAction, string[], SessionsOptions?][] = [
      ['show', []],
      ['show', ['a', 'b']],
      ['rename', ['a']],
      ['search', [' ']],
      ['list', ['x']],
      ['list', [], { limit: 0 }],
    ];
    for (const [action, args, options] of wrong) expect(await run(action, args, options)).toBe(2);
    expect(err.split('\n').filter(Boolean)).toHaveLength(wrong.length);
    expect(fake.requests).toEqual([]);
  });
});

test('status tells what the daemon says of itself', async () => {
  answers['GET /api/status'] = {
    version: '1.2.3',
    state: 'ready',
    startedAt: 0,
    model: 'fake/model',
    channels: [
      { id: 'http', state: 'running', lastMessageAt: 0 },
      { id: 'telegram', state: 'failed', lastError: 'the token\nis wrong' },
    ],
    queues: { inboundWaiting: 1, running: 2, outboundWaiting: 3 },
  };
  expect(await statusCommand({ url: fake.url, token: 't' })).toBe(0);
  expect(out).toMatch(/^PicoBot 1\.2\.3 at http:\/\/127\.0\.0\.1:\d+: ready since 19[67]\d/);
  expect(out).toContain('messages: 1 waiting, 2 in work, 3 to be sent');
  expect(out).toMatch(/\ntelegram {2}failed {3}- +the token is wrong\n$/);
  out = '';
  await statusCommand({ url: fake.url, token: 't', json: true });
  expect(JSON.parse(out)).toEqual(answers['GET /api/status']);
});

/** The fake refuses what the real servers refuse, in the family's own shape. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { families } from './families.mjs';
import { type FakeRules, type Family, type LlmServer, startLlmServer } from './server.mjs';

let server: LlmServer;
beforeAll(async () => {
  server = await startLlmServer();
});
afterAll(() => server.close());

const user = { role: 'user', content: 'hi' };
const tool = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } });
const chatCall = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
});
const chatResult = (id: string) => ({ role: 'tool', tool_call_id: id, content: '1' });
const use = (...ids: string[]) => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })),
});
const result = (...ids: string[]) => ({
  role: 'user',
  content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: '1' })),
});
const thinking = (signature?: string) => ({
  role: 'assistant',
  content: [
    { type: 'thinking', thinking: 'hm', ...(signature && { signature }) },
    { type: 'text', text: 'x' },
  ],
});
const call = (call_id: string) => ({ type: 'function_call', call_id, name: 'f', arguments: '{}' });
const output = (call_id: string) => ({ type: 'function_call_output', call_id, output: '1' });

const chat = (messages: unknown, more: object = {}) => ({ model: 'm', messages, ...more });
const messages = (list: unknown, more: object = {}) => ({ model: 'm', max_tokens: 10, messages: list, ...more });
const responses = (input: unknown, more: object = {}) => ({ model: 'm', input, store: false, ...more });

const refused: [Family, string, object, RegExp, FakeRules?][] = [
  ['openai', 'no messages', chat([]), /too short/],
  ['openai', 'no model', { messages: [user] }, /model/],
  [
    'openai',
    'a call without its result',
    chat([user, chatCall('a', 'b'), chatResult('a')]),
    /did not have response messages: b/,
  ],
  [
    'openai',
    'a call with its result too late',
    chat([user, chatCall('a'), user, chatResult('a')]),
    /did not have response messages/,
  ],
  ['openai', 'a result without its call', chat([user, chatResult('a')]), /must be a response to a preceding message/],
  ['openai', 'a result twice', chat([user, chatCall('a'), chatResult('a'), chatResult('a')]), /must be a response/],
  ['openai', 'two calls with one id', chat([user, chatCall('a', 'a'), chatResult('a')]), /Duplicate/],
  ['openai', 'an empty text', chat([{ role: 'user', content: '' }]), /empty text/],
  ['openai', 'an empty text part', chat([{ role: 'user', content: [{ type: 'text', text: '' }] }]), /empty text/],
  ['openai', 'an empty answer', chat([user, { role: 'assistant', content: '' }, user]), /empty text/],
  ['openai', 'an empty list of calls', chat([user, { role: 'assistant', content: 'x', tool_calls: [] }]), /too short/],
  ['openai', 'an unknown role', chat([{ role: 'robot', content: 'x' }]), /role/],
  [
    'openai',
    'arguments that are no object',
    chat([
      user,
      { ...chatCall('a'), tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '[' } }] },
    ]),
    /JSON object/,
  ],
  ['openai', 'a tool name twice', chat([user], { tools: [tool('f'), tool('f')] }), /unique/],
  ['openai', 'a bad tool name', chat([user], { tools: [tool('a b')] }), /pattern/],
  ['openai', 'a choice without tools', chat([user], { tool_choice: 'auto' }), /tool_choice/],
  [
    'openai',
    'reasoning where it is refused',
    chat([user, { ...chatCall('a'), reasoning_content: 'x' }, chatResult('a')]),
    /not permitted/,
    { reasoningContent: 'refuse' },
  ],
  [
    'openai',
    'no reasoning where it is demanded',
    chat([user, chatCall('a'), chatResult('a')]),
    /reasoning_content is missing/,
    { reasoningContent: 'demand' },
  ],
  ['anthropic', 'no max_tokens', { model: 'm', messages: [user] }, /max_tokens/],
  ['anthropic', 'no messages', messages([]), /at least one/],
  ['anthropic', 'an assistant first', messages([{ role: 'assistant', content: 'x' }, user]), /first message/],
  ['anthropic', 'an assistant last', messages([user, { role: 'assistant', content: 'x' }]), /end with a user message/],
  ['anthropic', 'a system message in the list', messages([{ role: 'system', content: 'x' }, user]), /role/],
  ['anthropic', 'an empty text', messages([{ role: 'user', content: '' }]), /non-whitespace/],
  ['anthropic', 'a blank text', messages([{ role: 'user', content: [{ type: 'text', text: ' ' }] }]), /non-whitespace/],
  ['anthropic', 'empty content', messages([{ role: 'user', content: [] }]), /non-empty/],
  ['anthropic', 'an empty system prompt', messages([user], { system: '' }), /non-empty/],
  [
    'anthropic',
    'a call without its result',
    messages([user, use('a', 'b'), result('a')]),
    /without `tool_result`.*: b/,
  ],
  ['anthropic', 'a result without its call', messages([user, result('a')]), /unexpected `tool_use_id`/],
  [
    'anthropic',
    'a result after text',
    messages([user, use('a'), { role: 'user', content: [{ type: 'text', text: 'x' }, ...result('a').content] }]),
    /must come first/,
  ],
  ['anthropic', 'a result twice', messages([user, use('a'), result('a', 'a')]), /single result/],
  ['anthropic', 'a call id twice', messages([user, use('a'), result('a'), use('a'), result('a')]), /unique/],
  ['anthropic', 'a bad call id', messages([user, use('a:0'), result('a:0')]), /pattern/],
  ['anthropic', 'thinking without signature', messages([user, thinking(), user]), /signature/],
  ['anthropic', 'thinking with a changed signature', messages([user, thinking('sig_x'), user]), /Invalid `signature`/],
  [
    'anthropic',
    'a tool name twice',
    messages([user], {
      tools: [
        { name: 'f', input_schema: { type: 'object' } },
        { name: 'f', input_schema: { type: 'object' } },
      ],
    }),
    /unique/,
  ],
  [
    'anthropic',
    'calls without thinking while thinking',
    messages([user, use('a'), result('a')], { max_tokens: 5000, thinking: { type: 'enabled', budget_tokens: 2000 } }),
    /start with a thinking block/,
  ],
  [
    'anthropic',
    'five marks for the cache',
    messages([
      {
        role: 'user',
        content: Array.from({ length: 5 }, () => ({ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } })),
      },
    ]),
    /maximum of 4/,
  ],
  ['responses', 'no input', responses([]), /input/],
  ['responses', 'a call without its result', responses([user, call('a')]), /No tool output/],
  ['responses', 'a result without its call', responses([user, output('a')]), /No tool call/],
  ['responses', 'a call id twice', responses([user, call('a'), output('a'), call('a'), output('a')]), /Duplicate/],
  [
    'responses',
    'an empty text',
    responses([{ role: 'user', content: [{ type: 'input_text', text: '' }] }]),
    /empty text/,
  ],
  ['responses', 'an unknown item', responses([{ type: 'item_reference', id: 'x' }]), /not found/],
  [
    'responses',
    'changed reasoning',
    responses([user, { type: 'reasoning', id: 'r', summary: [], encrypted_content: 'enc_x' }, call('a'), output('a')]),
    /could not be verified/,
  ],
  [
    'responses',
    'reasoning that was not stored',
    responses([user, { type: 'reasoning', id: 'r', summary: [] }, call('a'), output('a')]),
    /not persisted/,
  ],
];

test.each(refused)('%s refuses %s', (family, _name, body, complaint, rules) => {
  expect(families[family].validate(body, rules)).toMatch(complaint);
});

test.each<[Family, object]>([
  [
    'openai',
    chat([{ role: 'system', content: 'x' }, user, chatCall('a', 'b'), chatResult('b'), chatResult('a'), user], {
      tools: [tool('f')],
    }),
  ],
  [
    'anthropic',
    messages([user, use('a', 'b'), result('a'), result('b'), user, { role: 'assistant', content: 'x' }, user], {
      system: 'x',
    }),
  ],
  ['responses', responses([user, call('a'), call('b'), output('a'), output('b'), user])],
])('%s takes a conversation that is right', (family, body) => {
  expect(families[family].validate(body)).toBeUndefined();
});

describe('over HTTP', () => {
  const post = async (path: string, body: unknown, headers = {}) => {
    const response = await fetch(`${server.baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  test('a refusal is a 400 in the family’s shape, and the script waits', async () => {
    server.script({ text: 'kept' });
    expect(await post('/chat/completions', chat([]))).toMatchObject({
      status: 400,
      body: { error: { type: 'invalid_request_error' } },
    });
    expect(await post('/messages', messages([]), { 'anthropic-version': '1' })).toMatchObject({
      status: 400,
      body: { type: 'error', error: { type: 'invalid_request_error' } },
    });
    expect(await post('/responses', responses([]))).toMatchObject({ status: 400, body: { error: {} } });
    expect(server.waiting).toBe(1);
    expect(await post('/chat/completions', chat([user]))).toMatchObject({
      status: 200,
      body: { choices: [{ message: { content: 'kept' } }] },
    });
  });

  test('broken JSON, a missing version header and an unknown path are refused too', async () => {
    const broken = await fetch(`${server.baseUrl}/chat/completions`, { method: 'POST', body: '{' });
    expect(broken.status).toBe(400);
    expect(await post('/messages', messages([user]))).toMatchObject({ status: 400 });
    expect(await post('/embeddings', {})).toMatchObject({ status: 404 });
  });

  test('models are listed', async () => {
    const response = await fetch(`${server.baseUrl}/models`);
    expect(await response.json()).toMatchObject({ object: 'list', data: [{ id: 'fake-model' }] });
  });
});

test('as a process of its own it takes orders, and ends with its parent’s pipe', async () => {
  const script = fileURLToPath(new URL('./server.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, '--with-parent'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { url, baseUrl, pid } = JSON.parse(line.toString()) as { url: string; baseUrl: string; pid: number };
  expect(pid).toBe(child.pid);
  const send = (address: string, body: unknown) => fetch(address, { method: 'POST', body: JSON.stringify(body) });
  await send(`${url}/_control/script`, { steps: [{ text: 'scripted' }] });
  const answer = await send(`${baseUrl}/chat/completions`, chat([user]));
  expect(await answer.text()).toContain('scripted');
  const { items } = (await (await fetch(`${url}/_control/requests`)).json()) as {
    items: { family: string; body: string }[];
  };
  expect(items).toMatchObject([{ family: 'openai', body: JSON.stringify(chat([user])) }]);
  child.stdin.end();
  expect(await once(child, 'exit')).toEqual([0, null]);
});

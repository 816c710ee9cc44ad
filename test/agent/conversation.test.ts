import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { interruptedByRestart, toEntries, toModelMessages } from '../../src/agent/conversation.js';
import type { EventBody } from '../../src/protocol/events.js';
import type { ModelMessage } from '../../src/providers/model.js';
import { stored, userMessage } from './scripted-run.js';

const assistant = (text: string, ...callIds: string[]): EventBody => ({
  type: 'assistant-message',
  step: 1,
  text,
  toolCalls: callIds.map((callId) => ({ callId, name: 'echo', input: { of: callId } })),
  deltas: [],
});
const result = (callId: string, output = `result of ${callId}`): EventBody => ({
  type: 'tool-result',
  step: 1,
  callId,
  name: 'echo',
  state: 'done',
  output,
  durationMs: 1,
});

const outline = (bodies: EventBody[]) =>
  toModelMessages(stored(bodies)).map((message) => {
    if (message.role === 'user')
      return `user ${message.content.map((part) => (part.type === 'text' ? part.text : '')).join()}`;
    if (message.role === 'tool') return `tool ${message.callId}: ${message.output}`;
    return ['assistant', message.text, ...message.toolCalls.map((call) => call.callId)].filter(Boolean).join(' ');
  });

test('the conversation is what was sent, said, called and returned; other events are not in it', () => {
  const bodies: EventBody[] = [
    { type: 'run-start', model: 'm', messageIds: ['m1'], attempt: 1 },
    { ...userMessage('typed'), sent: 'as sent' } as EventBody,
    { type: 'text-delta', step: 1, text: 'x' },
    { ...assistant('Looking.', 'a'), reasoning: [{ text: 'r', metadata: { signature: 's' } }] } as EventBody,
    { type: 'tool-call', step: 1, callId: 'a', name: 'echo', input: {} },
    { ...result('a', 'no'), state: 'failed' } as EventBody,
    assistant('Done.'),
    { type: 'notice', text: 'for people' },
    { type: 'run-end', stopReason: 'end_turn', text: 'Done.', usage: {} },
  ];
  expect(toModelMessages(stored(bodies))).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'as sent' }] },
    {
      role: 'assistant',
      text: 'Looking.',
      reasoning: [{ text: 'r', metadata: { signature: 's' } }],
      toolCalls: [{ callId: 'a', name: 'echo', input: { of: 'a' } }],
    },
    { role: 'tool', callId: 'a', name: 'echo', output: 'no', isError: true },
    { role: 'assistant', text: 'Done.', toolCalls: [] },
  ]);
});

describe('repair', () => {
  test('a call without a result is told to be interrupted', () => {
    expect(outline([userMessage('q'), assistant('', 'a', 'b'), result('b'), userMessage('q2')])).toEqual([
      'user q',
      'assistant a b',
      `tool a: ${interruptedByRestart}`,
      'tool b: result of b',
      'user q2',
    ]);
  });

  test('results without a call, second results and results of a call that was cut away are dropped', () => {
    expect(
      outline([
        assistant('', 'z'),
        result('z'),
        userMessage('q'),
        result('x'),
        assistant('', 'a'),
        result('a'),
        result('a', 'again'),
      ]),
    ).toEqual(['user q', 'assistant a', 'tool a: result of a']);
  });

  test('results stand in call order right after their calls, wherever they were stored', () => {
    expect(
      outline([
        userMessage('q'),
        assistant('', 'a', 'b'),
        result('b'),
        userMessage('meanwhile'),
        result('a'),
        assistant('x'),
      ]),
    ).toEqual([
      'user q',
      'assistant a b',
      'tool a: result of a',
      'tool b: result of b',
      'user meanwhile',
      'assistant x',
    ]);
  });

  test('empty messages are dropped, an empty message of a person is not', () => {
    expect(outline([userMessage(' '), assistant(''), assistant(' \n'), assistant('', 'a'), result('a', '')])).toEqual([
      'user (no text)',
      'assistant a',
      'tool a: (no output)',
    ]);
  });

  test('an id that is used again gets its own results', () => {
    expect(
      outline([
        userMessage('q'),
        assistant('', 'c'),
        result('c', '1'),
        assistant('', 'c', 'c'),
        result('c', '2'),
        result('c', '3'),
      ]),
    ).toEqual(['user q', 'assistant c', 'tool c: 1', 'assistant c_2 c_3', 'tool c_2: 2', 'tool c_3: 3']);
  });

  test('a name that no wire takes is mended', () => {
    const messages = toModelMessages(
      stored([
        userMessage('q'),
        { ...assistant(''), toolCalls: [{ callId: 'a', name: 'get.user/名', input: {} }] } as EventBody,
      ]),
    );
    expect(messages[1]).toMatchObject({ toolCalls: [{ name: 'get_user__' }] });
    expect(messages[2]).toMatchObject({ name: 'get_user__' });
  });
});

test('a checkpoint stands for the events up to its mark; what follows goes on from it', () => {
  const summary: ModelMessage[] = [
    { role: 'user', content: [{ type: 'text', text: 'q' }] },
    { role: 'assistant', text: '', toolCalls: [{ callId: 'a', name: 'echo', input: {} }] },
    { role: 'tool', callId: 'a', name: 'echo', output: 'shortened', isError: false },
  ];
  const events = stored([userMessage('q'), assistant('', 'a'), result('a'), assistant('', 'a'), result('a', 'new')]);
  const entries = toEntries(events, { to: 3, messages: summary });
  expect(entries.slice(0, 3)).toEqual(summary.map((message) => ({ eventId: 3, message })));
  expect(entries.slice(3)).toMatchObject([
    { eventId: 4, message: { role: 'assistant', toolCalls: [{ callId: 'a_2' }] } },
    { eventId: 5, message: { role: 'tool', callId: 'a_2', output: 'new' } },
  ]);
  expect(toModelMessages(events, { to: 3, messages: summary })).toEqual(entries.map((entry) => entry.message));
  expect(toEntries(events.slice(0, 2)).map((entry) => entry.eventId)).toEqual([1, 2, 2]);
});

/** What OpenAI and Anthropic refuse. */
function faultsOf(messages: ModelMessage[]): string[] {
  const faults: string[] = [];
  const ids = new Set<string>();
  let awaited: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (index === 0 && message.role !== 'user') faults.push('does not start with the user');
    if (message.role === 'tool') {
      if (awaited.shift() !== message.callId) faults.push(`${message.callId} is not the result that is due`);
      if (message.output.trim() === '') faults.push('empty result');
      continue;
    }
    if (awaited.length > 0) faults.push(`no result of ${awaited.join()}`);
    awaited = [];
    if (message.role === 'user') {
      const isFilled = message.content.every((part) => part.type !== 'text' || part.text.trim() !== '');
      if (message.content.length === 0 || !isFilled) faults.push('empty user message');
      continue;
    }
    if (message.text !== '' && message.text.trim() === '') faults.push('blank text');
    if (message.text === '' && message.toolCalls.length === 0) faults.push('empty assistant message');
    for (const call of message.toolCalls) {
      if (ids.has(call.callId) || call.callId === '') faults.push(`id ${call.callId} twice or empty`);
      if (!/^[A-Za-z0-9_-]{1,64}$/.test(call.name)) faults.push(`name ${call.name}`);
      ids.add(call.callId);
    }
    awaited = message.toolCalls.map((call) => call.callId);
  }
  if (awaited.length > 0) faults.push(`no result of ${awaited.join()} at the end`);
  if (/[\0]|\p{Surrogate}/u.test(JSON.stringify(messages).replace(/\\u(d[89ab]..|0000)/gi, '\0')))
    faults.push('unfit text');
  return faults;
}

const id = fc.constantFrom('a', 'b', 'c', 'a_2', '');
const text = fc.oneof(
  fc.constantFrom('', ' ', '\n', 'text', '\ud83d', '😀\0'),
  fc.string({ maxLength: 5, unit: 'binary' }),
);
const name = fc.constantFrom('echo', 'no.such', '');
const toolCalls = fc.array(fc.record({ callId: id, name, input: fc.constant({}) }), { maxLength: 3 });
const anyEvent: fc.Arbitrary<EventBody> = fc.oneof(
  text.map((sent) => ({ ...userMessage(), sent }) as EventBody),
  fc.tuple(text, toolCalls).map(([text, toolCalls]) => ({ ...assistant(text), toolCalls }) as EventBody),
  fc
    .tuple(id, text, fc.constantFrom('done', 'failed', 'interrupted'))
    .map(([callId, output, state]) => ({ ...result(callId, output), state }) as EventBody),
  fc.constant<EventBody>({ type: 'notice', text: 'n' }),
);

test('whatever was stored and wherever it was cut, the conversation is valid', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 30 }), fc.nat(30), fc.nat(30), (bodies, from, to) => {
      const messages = toModelMessages(stored(bodies).slice(from, from + to));
      expect(faultsOf(messages)).toEqual([]);
      expect(toModelMessages(stored(bodies).slice(from, from + to))).toEqual(messages);
    }),
    { numRuns: 1000 },
  );
});

test('what comes later changes nothing before the last complete step', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 20 }), fc.array(anyEvent, { maxLength: 5 }), (before, after) => {
      const isResult = (body: EventBody) => body.type === 'tool-result';
      const earlier = toModelMessages(stored(before));
      const later = toModelMessages(stored([...before, ...after.filter((body) => !isResult(body))]));
      expect(later.slice(0, earlier.length)).toEqual(earlier);
    }),
    { numRuns: 500 },
  );
});

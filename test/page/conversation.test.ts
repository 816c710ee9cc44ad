import { describe, expect, test } from 'vitest';
import {
  applyFrame,
  type Conversation,
  emptyConversation,
  isRunning,
  loaded,
  olderLoaded,
  withOutgoing,
} from '../../channels/websocket/page/src/chat/conversation.js';
import type { PageFrame } from '../../channels/websocket/page/src/wire/frames.js';
import type { VisibleMessage } from '../../src/protocol/control.js';

const stamp = (eventId: number, runId = 'r1') => ({ sessionId: 'default', messageId: 'm1', runId, eventId });
const text = (eventId: number, content: string): PageFrame => ({ type: 'text', ...stamp(eventId), content });
const start = (eventId: number, attempt = 1): PageFrame => ({
  type: 'start',
  ...stamp(eventId),
  content: { model: 'fake/model', attempt },
});
const end = (eventId: number, messageId = 'm1', stopReason: 'end_turn' | 'cancelled' = 'end_turn'): PageFrame => ({
  type: 'end',
  ...stamp(eventId),
  messageId,
  content: { stopReason, usage: {}, text: '' },
});
const history = (...content: VisibleMessage[]): PageFrame => ({ type: 'history/add', sessionId: 'default', content });
const sync = (lastEventId: number, ...messages: VisibleMessage[]): PageFrame => ({
  type: 'sync',
  sessionId: 'default',
  content: { messages, lastEventId },
});
const question: VisibleMessage = { id: 2, runId: 'r1', role: 'user', text: 'hi', at: 0, messageId: 'm1' };
const answer = (id: number, content: string): VisibleMessage => ({
  id,
  runId: 'r1',
  role: 'assistant',
  text: content,
  at: 0,
});
const ready = loaded(emptyConversation('default'), [], { hasOlder: false, isBusy: false });
const play = (state: Conversation, ...frames: PageFrame[]) => frames.reduce(applyFrame, state);

/** All that the person reads, in order. */
const shown = (state: Conversation) => [
  ...state.messages.map((message) => message.text),
  ...state.live.flatMap((run) => run.segments.map((part) => (part.kind === 'tool' ? part.call.name : part.text))),
  ...state.outgoing.map((message) => message.text),
];

describe('streaming', () => {
  test('the stored message takes the place of what was streamed', () => {
    const streamed = play(ready, start(1), history(question), text(3, 'Hel'), text(4, 'lo'));
    expect(shown(streamed)).toEqual(['hi', 'Hello']);
    expect(shown(play(streamed, history(answer(5, 'Hello')), end(6)))).toEqual(['hi', 'Hello']);
    expect(shown(play(streamed, end(6), history(answer(5, 'Hello'))))).toEqual(['hi', 'Hello']);
  });

  test('text that streams on after a stored step stays', () => {
    const state = play(ready, text(3, 'one'), history(answer(4, 'one')), text(5, 'two'), history(answer(4, 'one')));
    expect(shown(state)).toEqual(['one', 'two']);
  });

  test('a frame that comes twice counts once', () => {
    expect(shown(play(ready, text(3, 'Hel'), text(4, 'lo'), text(3, 'Hel'), text(4, 'lo')))).toEqual(['Hello']);
  });

  test('streaming leaves the stored messages untouched, so that they are not drawn again', () => {
    const before = play(ready, history(question));
    expect(play(before, text(3, 'a'), text(4, 'b')).messages).toBe(before.messages);
  });

  test('reasoning moves into the message it led to', () => {
    const think: PageFrame = { type: 'reasoning', ...stamp(3), content: 'hm' };
    const state = play(ready, think, text(4, 'Hello'), history(answer(5, 'Hello')));
    expect(state.messages.at(-1)).toMatchObject({ text: 'Hello', reasoning: 'hm' });
    expect(play(state, sync(6, question, answer(5, 'Hello'))).messages.at(-1)?.reasoning).toBe('hm');
  });

  test('what a cancelled turn had said stays to be read', () => {
    const state = play(ready, text(3, 'Half an ans'), end(4, 'm1', 'cancelled'));
    expect(shown(state)).toEqual(['Half an ans']);
    expect(isRunning(state)).toBe(false);
    expect(state.endings.get('r1')).toBe('cancelled');
  });
});

describe('tool calls', () => {
  const call = { callId: 'c1', name: 'calculator', input: { expression: '17*23' }, state: 'running' as const };
  const withCall = { ...answer(4, ''), toolCalls: [call] };
  const frame = (eventId: number, state: 'running' | 'done', result?: string): PageFrame => ({
    type: 'tool_calls',
    ...stamp(eventId),
    content: [{ id: 'c1', name: 'calculator', input: call.input, state, ...(result && { result }) }],
  });

  test('a call of a stored message gets its result there', () => {
    const state = play(ready, history(withCall), frame(5, 'running'), frame(6, 'done', '391'));
    expect(state.messages[0]?.toolCalls).toEqual([{ ...call, state: 'done', output: '391' }]);
    expect(shown(state)).toEqual(['']);
  });

  test('a call that streamed first keeps its result when its message comes late and says "running"', () => {
    const state = play(ready, frame(5, 'running'), frame(6, 'done', '391'), history(withCall));
    expect(state.live.flatMap((run) => run.segments)).toEqual([]);
    expect(state.messages[0]?.toolCalls).toEqual([{ ...call, state: 'done', output: '391' }]);
  });
});

describe('reconnecting', () => {
  test('missed frames continue the text, and the sync after them doubles nothing', () => {
    const before = play(ready, start(1), history(question), text(3, 'Hel'));
    const after = play(before, text(4, 'lo, '), text(5, 'you'), sync(5, question));
    expect(shown(after)).toEqual(['hi', 'Hello, you']);
    expect(shown(play(after, text(6, '!'), history(answer(7, 'Hello, you!')), end(8)))).toEqual(['hi', 'Hello, you!']);
  });

  test('a turn that ended meanwhile is shown once', () => {
    const before = play(ready, start(1), history(question), text(3, 'Hel'));
    const after = play(before, text(4, 'lo'), end(6), sync(6, question, answer(5, 'Hello')));
    expect(shown(after)).toEqual(['hi', 'Hello']);
    expect(isRunning(after)).toBe(false);
  });

  test('a step that is streamed again after a crash replaces its first draft', () => {
    const before = play(ready, start(1), history(question), text(3, 'Hello, I wa'));
    const after = play(before, start(1_000_002, 2), text(1_000_003, 'Hello'), sync(1_000_003, question));
    expect(shown(after)).toEqual(['hi', 'Hello']);
  });

  test('the start of a restarted run that is repeated does not take its text away', () => {
    const state = play(ready, start(10, 2), text(11, 'Hello'), start(10, 2));
    expect(shown(state)).toEqual(['Hello']);
  });

  test('a server whose past is another one (a restored backup) is believed', () => {
    const before = play(ready, history(question), text(500, 'lost'));
    const after = play(before, sync(2, { ...question, text: 'older' }), text(3, 'new'));
    expect(shown(after)).toEqual(['older', 'new']);
  });

  test('after a long absence the list starts anew, with older messages to be loaded', () => {
    const many = Array.from({ length: 60 }, (_, index) => answer(1000 + index, `later ${index}`));
    const after = play(ready, history(question), sync(1100, ...many));
    expect(after.messages).toHaveLength(60);
    expect(after.hasOlder).toBe(true);
  });
});

describe('own messages', () => {
  const own = { messageId: 'm1', text: 'hi', at: 0, state: 'sent' as const };

  test('a sent message is shown once, before and after it is stored', () => {
    const sent = withOutgoing(ready, own);
    expect(shown(sent)).toEqual(['hi']);
    expect(isRunning(sent)).toBe(true);
    const stored = play(sent, start(1), history(question));
    expect(shown(stored)).toEqual(['hi']);
    expect(stored.outgoing).toEqual([]);
  });

  test('a turn that answers several messages runs until each has its end', () => {
    const two = withOutgoing(withOutgoing(ready, own), { ...own, messageId: 'm2' });
    const half = play(two, start(1), text(3, 'a'), end(4, 'm1'));
    expect(isRunning(half)).toBe(true);
    expect(isRunning(play(half, end(4, 'm2')))).toBe(false);
  });

  test('a message that was not taken can be sent again', () => {
    const error = { code: 'queue_full', message: 'Too many messages wait.' };
    const refused = play(withOutgoing(ready, own), {
      type: 'error',
      sessionId: 'default',
      messageId: 'm1',
      content: error,
    });
    expect(refused.outgoing[0]?.state).toBe('failed');
    expect(refused.errors).toEqual([{ ...error, messageId: 'm1' }]);
    expect(isRunning(refused)).toBe(false);
    const again = withOutgoing(refused, own);
    expect(again.errors).toEqual([]);
    expect(again.outgoing).toEqual([own]);
  });

  test('an error that the stored conversation tells too is shown once', () => {
    const notice: VisibleMessage = { id: 9, runId: 'r1', role: 'notice', text: '⚠️ No key. (no_key)', at: 0 };
    const error: PageFrame = { type: 'error', sessionId: 'default', content: { code: 'no_key', message: 'No key.' } };
    expect(play(ready, error, history(notice)).errors).toEqual([]);
    expect(play(ready, history(notice), error).errors).toEqual([]);
  });

  test('a message that is answered leaves the queue', () => {
    const queue = [{ messageId: 'm1', text: 'hi', at: 0 }];
    const state = play(ready, { type: 'context', sessionId: 'default', content: queue }, history(question));
    expect(state.queue).toEqual([]);
  });
});

test('older messages go before the known ones, each once', () => {
  const state = play(ready, history(answer(50, 'c'), answer(51, 'd')));
  const older = olderLoaded(state, [answer(40, 'a'), answer(41, 'b'), answer(50, 'c')], true);
  expect(older.messages.map((message) => message.text)).toEqual(['a', 'b', 'c', 'd']);
  expect(older.messages[2]).toBe(state.messages[0]);
});

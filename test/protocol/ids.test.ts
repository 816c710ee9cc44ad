import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chatScope, parseSessionId, scopeOf, sessionId } from '../../src/protocol/ids.js';

const part = fc.string({ minLength: 1, unit: 'grapheme' });

test('any three parts survive the way into an id and back', () => {
  fc.assert(
    fc.property(part, part, part, (channel, chatId, dialogId) => {
      const id = sessionId({ channel, chatId, dialogId });
      expect(parseSessionId(id)).toEqual({ channel, chatId, dialogId });
      expect(scopeOf(id)).toBe(chatScope({ channel, chatId }));
    }),
  );
});

test('different addresses never share an id', () => {
  const tricky = fc.string({ minLength: 1, unit: fc.constantFrom(':', '%', '3', 'A', 'a') });
  fc.assert(
    fc.property(tricky, tricky, tricky, tricky, tricky, tricky, (a, b, c, d, e, f) => {
      const same = a === d && b === e && c === f;
      const first = sessionId({ channel: a, chatId: b, dialogId: c });
      expect(first === sessionId({ channel: d, chatId: e, dialogId: f })).toBe(same);
    }),
  );
});

test.each(['', 'a', 'a:b', 'a:b:c:d', 'a::c', ':b:c', 'a:b:', 'a:b:c%', 'a:b:c%20'])('%j is no session id', (text) => {
  expect(parseSessionId(text)).toBeUndefined();
});

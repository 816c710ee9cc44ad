import { expect, test } from 'vitest';
import { FrameCursor } from '../../src/client/frame-cursor.js';
import type { TurnFrame } from '../../src/protocol/frames.js';

const frame = (type: string, eventId: number, content: unknown = '') =>
  ({ type, sessionId: 's', messageId: 'm', runId: 'r', eventId, content }) as TurnFrame;

/** What is new of these frames. */
function read(cursor: FrameCursor, ...frames: TurnFrame[]): unknown[] {
  return frames.map((each) => cursor.take(each)?.content).filter((content) => content !== undefined);
}

test('a finished step that is told as one text loses the pieces that were seen', () => {
  const cursor = new FrameCursor();
  expect(read(cursor, frame('start', 1, 0), frame('text', 2, 'a'), frame('text', 3, 'bc'))).toEqual([0, 'a', 'bc']);
  // Another reader has only seen the first piece.
  cursor.resumeFrom(2);
  expect(read(cursor, frame('text', 5, 'bcde'), frame('text', 6, 'f'))).toEqual(['de', 'f']);
});

test('pieces that come again one by one are passed over, and the next is taken whole', () => {
  const cursor = new FrameCursor();
  read(cursor, frame('text', 2, 'a'), frame('text', 3, 'b'), frame('text', 4, 'c'));
  cursor.resumeFrom(2);
  expect(read(cursor, frame('text', 3, 'b'), frame('text', 4, 'c'), frame('text', 5, 'd'))).toEqual(['d']);
  // The first of them alone, the rest together with what is new.
  cursor.resumeFrom(2);
  expect(read(cursor, frame('text', 3, 'b'), frame('text', 6, 'cde'))).toEqual(['e']);
});

test('a new step begins without a past', () => {
  const cursor = new FrameCursor();
  read(cursor, frame('text', 2, 'a'), frame('tool_calls', 3, []), frame('text', 4, 'b'));
  cursor.resumeFrom(1);
  expect(read(cursor, frame('text', 2, 'a'), frame('tool_calls', 3, []), frame('text', 5, 'bc'))).toEqual(['c']);
});

test('a notice that was told before older text does not hide that text', () => {
  const cursor = new FrameCursor();
  expect(read(cursor, frame('start', 1, 0), frame('notice', 3, 'n'))).toEqual([0, 'n']);
  expect(cursor.lastEventId).toBe(1);
  expect(read(cursor, frame('notice', 3, 'n'), frame('text', 4, 'ab'), frame('reasoning', 5, 'r'))).toEqual([
    'ab',
    'r',
  ]);
});

test('what is known in another way is passed over; after a restart all counts again', () => {
  const cursor = new FrameCursor();
  cursor.skipTo(5);
  cursor.skipTo(3);
  expect(read(cursor, frame('text', 5, 'x'), frame('notice', 4, 'x'), frame('text', 6, 'y'))).toEqual(['y']);
  cursor.restart(1);
  expect(read(cursor, frame('text', 1, 'x'), frame('text', 2, 'z'))).toEqual(['z']);
});

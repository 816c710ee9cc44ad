import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createToolCallAssembler } from '../../src/providers/frames/chat-tool-calls.js';

const callArbitrary = fc.record({
  name: fc.constantFrom('alpha', 'beta', 'get_weather'),
  input: fc.dictionary(fc.string(), fc.jsonValue()),
});

/** The pieces of a text, cut at random places. */
const cut = (text: string, places: number[]) => {
  const ends = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [...ends, text.length].map((end, index) => text.slice(index === 0 ? 0 : ends[index - 1], end));
};

test('calls come out as they went in, however they were cut and interleaved', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(callArbitrary, fc.array(fc.nat(), { maxLength: 5 })), { minLength: 1, maxLength: 4 }),
      fc.infiniteStream(fc.nat()),
      fc.boolean(),
      (calls, order, repeatsIds) => {
        const queues = calls.map(([call, places], index) =>
          cut(JSON.stringify(call.input), places).map((piece, number) => ({
            index,
            ...((number === 0 || repeatsIds) && { id: `id${index}` }),
            function: { ...(number === 0 && { name: call.name }), arguments: piece },
          })),
        );
        const assembler = createToolCallAssembler();
        while (queues.some((queue) => queue.length > 0)) {
          const open = queues.filter((queue) => queue.length > 0);
          assembler.add([open[order.next().value % open.length]!.shift()]);
        }
        const seen = assembler.finish();
        const byId = new Map(seen.map((call) => [call.id, call.function]));
        expect(seen).toHaveLength(calls.length);
        for (const [index, [call]] of calls.entries()) {
          expect(byId.get(`id${index}`)).toEqual({ name: call.name, arguments: JSON.stringify(call.input) });
        }
      },
    ),
  );
});

test('whole calls without index and id stay apart', () => {
  fc.assert(
    fc.property(fc.array(callArbitrary, { minLength: 1, maxLength: 4 }), (calls) => {
      const assembler = createToolCallAssembler();
      for (const { name, input } of calls) assembler.add([{ function: { name, arguments: JSON.stringify(input) } }]);
      const seen = assembler.finish();
      expect(seen.map((call) => call.function)).toEqual(
        calls.map(({ name, input }) => ({ name, arguments: JSON.stringify(input) })),
      );
      expect(new Set(seen.map(({ id }) => id)).size).toBe(calls.length);
    }),
  );
});

test('arguments that are sent again in full, growing, are not glued together', () => {
  const assembler = createToolCallAssembler();
  for (const text of ['', '{"a', '{"a":{"b', '{"a":{"b":1}}', '{"a":{"b":1}}']) {
    assembler.add([{ index: 0, id: 'c1', function: { name: 'alpha', arguments: text } }]);
  }
  expect(assembler.finish()).toMatchObject([{ id: 'c1', function: { arguments: '{"a":{"b":1}}' } }]);
});

test('an id made up anew for each delta is the same call', () => {
  const assembler = createToolCallAssembler();
  assembler.add([{ index: 0, id: 'x1', function: { name: 'alpha', arguments: '{"a"' } }]);
  assembler.add([{ index: 0, id: 'x2', function: { arguments: ':1}' } }]);
  expect(assembler.finish()).toMatchObject([{ id: 'x1', function: { name: 'alpha', arguments: '{"a":1}' } }]);
});

test('an id that comes late belongs to the call at its index', () => {
  const assembler = createToolCallAssembler();
  assembler.add([{ index: 0, function: { name: 'alpha', arguments: '' } }]);
  assembler.add([{ index: 0, id: 'late', function: { arguments: '{}' } }]);
  expect(assembler.finish()).toMatchObject([{ id: 'late', function: { name: 'alpha', arguments: '{}' } }]);
});

test('{} as a placeholder gives way to the arguments that follow', () => {
  const assembler = createToolCallAssembler();
  assembler.add([{ index: 0, id: 'c1', function: { name: 'alpha', arguments: '{}' } }]);
  assembler.add([{ index: 0, id: 'c1', function: { arguments: '{"a":1}' } }]);
  expect(assembler.finish()).toMatchObject([{ function: { arguments: '{"a":1}' } }]);
});

test('nonsense is left out', () => {
  const assembler = createToolCallAssembler();
  assembler.add(undefined);
  assembler.add('tool_calls');
  assembler.add([null, 7, 'x']);
  expect(assembler.isEmpty).toBe(true);
});

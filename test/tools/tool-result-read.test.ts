import { expect, test } from 'vitest';
import { ToolError } from '../../src/tools/tool.js';
import { toolResultReadTool } from '../../src/tools/tool-result-read.js';
import { context } from './tool-context.js';

function reader(results: Record<string, string>) {
  const asked: string[][] = [];
  const tool = toolResultReadTool({
    readResult(sessionId, callId) {
      asked.push([sessionId, callId]);
      return results[callId];
    },
  });
  return { tool, asked, read: (input: object) => tool.run(tool.input.parse(input), context) };
}

test('a short output comes whole, from the session of the call', async () => {
  const { asked, read, tool } = reader({ a: 'all of it', empty: '' });
  expect(await read({ call_id: 'a' })).toBe('all of it');
  expect(await read({ call_id: 'empty' })).toBe('');
  expect(asked[0]).toEqual([context.sessionId, 'a']);
  expect(tool.isReadOnly).toBe(true);
});

test('a long output comes in pages that together are the output', async () => {
  const output = Array.from({ length: 4000 }, (_, index) => `line ${index} 汉😀`).join('\n');
  const { read } = reader({ a: output });
  for (const length of [undefined, 1, 2, 777, 20_000]) {
    let text = '';
    let next: number | undefined = 1;
    for (let pages = 0; next !== undefined && pages < 60; pages += 1) {
      const page = await read({ call_id: 'a', first_character: next, ...(length !== undefined && { length }) });
      const note = page.slice(page.lastIndexOf('\n[') + 1);
      const part = page.slice(0, page.lastIndexOf('\n['));
      expect(part).not.toMatch(/\p{Surrogate}|\uFFFD/u);
      text += part;
      expect(note).toContain(`of ${output.length}`);
      next = note.includes('Read on') ? Number(note.match(/first_character: (\d+)/)?.[1]) : undefined;
    }
    expect(output.startsWith(text)).toBe(true);
    if (length === undefined || length > 100_000) expect(text).toBe(output);
  }
});

test('a page that would begin in the middle of a character begins with it', async () => {
  const { read } = reader({ a: 'ab😀cd' });
  expect(await read({ call_id: 'a', first_character: 4, length: 3 })).toBe(
    '😀c\n[characters 3 to 5 of 6. Read on with first_character: 6.]',
  );
  expect(await read({ call_id: 'a', first_character: 6 })).toBe('d\n[characters 6 to 6 of 6: the end.]');
});

test('unknown ids and places behind the end are told to the model', async () => {
  const { read } = reader({ a: 'abc' });
  await expect(read({ call_id: 'b' })).rejects.toThrow(
    new ToolError('There is no result of a call "b" in this dialog. Take the id from the note.'),
  );
  await expect(read({ call_id: 'a', first_character: 4 })).rejects.toThrow('The output has 3 characters');
});

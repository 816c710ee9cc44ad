import { expect, test } from 'vitest';
import { currentTimeTool } from '../../src/tools/current-time.js';
import {
  type MemoryAccess,
  memoryForgetTool,
  memoryRecallTool,
  memoryStoreTool,
  timelineRecallTool,
} from '../../src/tools/memory-tools.js';
import { createToolRegistry } from '../../src/tools/registry.js';
import { ToolError } from '../../src/tools/tool.js';
import { zonedTime } from '../../src/tools/zoned-time.js';
import { context } from './tool-context.js';

const clock = currentTimeTool({ timeZone: 'Asia/Shanghai', now: () => Date.UTC(2026, 2, 8, 16, 30, 5) });

test.each([
  [undefined, '2026-03-09T00:30:05+08:00 Monday, Asia/Shanghai'],
  ['', '2026-03-09T00:30:05+08:00 Monday, Asia/Shanghai'],
  ['UTC', '2026-03-08T16:30:05+00:00 Sunday, UTC'],
  ['america/new_york', '2026-03-08T12:30:05-04:00 Sunday, America/New_York'],
  ['Asia/Kathmandu', '2026-03-08T22:15:05+05:45 Sunday, Asia/Katmandu'],
  ['America/St_Johns', '2026-03-08T14:00:05-02:30 Sunday, America/St_Johns'],
])('the time in %s', async (zone, expected) => {
  const text = await clock.run({ time_zone: zone }, context);
  expect(text.replace('Kathmandu', 'Katmandu')).toBe(expected);
});

test('the offset follows daylight saving time', () => {
  expect(zonedTime(Date.UTC(2026, 2, 29, 0, 59, 59), 'Europe/Berlin').iso).toBe('2026-03-29T01:59:59+01:00');
  expect(zonedTime(Date.UTC(2026, 2, 29, 1, 0, 0), 'Europe/Berlin').iso).toBe('2026-03-29T03:00:00+02:00');
});

test.each([
  ['Asia/Shangai', /Asia\/Shanghai/],
  ['new york', /America\/New_York/],
  ['Mars/Base', /There is no time zone "Mars\/Base"/],
  ['x'.repeat(10_000), /^There is no time zone "x{64}"\./],
])('an unknown zone is refused with near names: %s', async (zone, reason) => {
  const refused = clock.run({ time_zone: zone }, context);
  await expect(refused).rejects.toThrow(reason);
  await expect(refused).rejects.toBeInstanceOf(ToolError);
});

function recordingMemory(found: Awaited<ReturnType<MemoryAccess['recall']>> = []) {
  const seen: unknown[] = [];
  const memory: MemoryAccess = {
    store: async (...arguments_) => void seen.push(arguments_),
    recall: async (...arguments_) => {
      seen.push(arguments_);
      return found;
    },
    timeline: async (...arguments_) => {
      seen.push(arguments_);
      return found;
    },
    forget: async (...arguments_) => void seen.push(arguments_),
  };
  return { memory, seen };
}

const actor = { ...context.actor, sessionId: context.sessionId, runId: context.runId };

test('a fact is stored with who told it and in which run', async () => {
  const { memory, seen } = recordingMemory();
  const tool = memoryStoreTool(memory);
  const input = tool.input.parse({ key: ' tea ', content: 'likes oolong', importance: 0.8 });
  expect(await tool.run(input, context)).toBe('Remembered as "tea".');
  await tool.run(tool.input.parse({ key: 'k', content: 'c' }), context);
  expect(seen).toEqual([
    [{ key: 'tea', content: 'likes oolong', importance: 0.8 }, actor],
    [{ key: 'k', content: 'c' }, actor],
  ]);
});

test('past summaries are searched, or listed when there is nothing to search for; a fact is forgotten by its key', async () => {
  const { memory, seen } = recordingMemory([{ key: 'plan', content: 'we agreed', updatedAt: Date.UTC(2026, 0, 31) }]);
  const timeline = timelineRecallTool(memory);
  expect(await timeline.run(timeline.input.parse({ since: '2026-01-01' }), context)).toBe(
    '- 2026-01-31 plan: we agreed',
  );
  const forget = memoryForgetTool(memory);
  expect(await forget.run(forget.input.parse({ key: ' plan ' }), context)).toBe('Forgotten: "plan".');
  expect(seen).toEqual([
    ['', { limit: 5, since: Date.UTC(2026, 0, 1) }, actor],
    ['plan', actor],
  ]);
});

test.each([
  [{ key: '', content: 'c' }],
  [{ key: 'k', content: ' ' }],
  [{ key: 'k', content: 'x'.repeat(8001) }],
  [{ key: 'k', content: 'c', importance: 2 }],
  [{ key: 'k', content: 'c', category: 'x' }],
])('what cannot be stored is refused: %#', (input) => {
  expect(memoryStoreTool(recordingMemory().memory).input.safeParse(input).success).toBe(false);
});

test('memories are listed best first, with the day of their last change', async () => {
  const { memory, seen } = recordingMemory([
    { key: 'tea', content: 'likes oolong', updatedAt: Date.UTC(2026, 0, 31) },
    { key: 'long', content: `${'x'.repeat(1999)}😀${'x'.repeat(100)}`, updatedAt: 0 },
  ]);
  const tool = memoryRecallTool(memory);
  const input = tool.input.parse({ query: 'tea', limit: 3, since: '2026-01-01', until: '2026-01-31' });
  expect(await tool.run(input, context)).toBe(
    `- tea: likes oolong (2026-01-31)\n- long: ${'x'.repeat(1999)}… (1970-01-01)`,
  );
  const range = { since: Date.UTC(2026, 0, 1), until: Date.UTC(2026, 1, 1) - 1 };
  expect(seen).toEqual([['tea', { limit: 3, ...range }, actor]]);
});

test('nothing found says so, the limit has a default, bad times are refused', async () => {
  const { memory, seen } = recordingMemory();
  const tool = memoryRecallTool(memory);
  expect(await tool.run(tool.input.parse({ query: 'x' }), context)).toBe('Nothing was found.');
  expect(seen).toEqual([['x', { limit: 10 }, actor]]);
  expect(tool.input.safeParse({ query: 'x', since: 'yesterday' }).success).toBe(false);
  expect(tool.input.safeParse({ query: 'x', until: '2026-13-45' }).success).toBe(false);
});

test('the registry keeps the order of registration and refuses bad and double names', () => {
  const { memory } = recordingMemory();
  const tools = [memoryStoreTool(memory), clock];
  const registry = createToolRegistry(tools);
  expect(registry.names()).toEqual(['memory_store', 'current_time']);
  expect(registry.specs()).toBe(registry.specs());
  expect(registry.specs()[1]).toEqual({
    name: 'current_time',
    description: clock.description,
    inputSchema: {
      type: 'object',
      properties: { time_zone: { type: 'string', description: expect.any(String) } },
      additionalProperties: false,
    },
  });
  expect(registry.find('current_time')).toBe(clock);
  expect(registry.find('toString')).toBeUndefined();
  expect(() => createToolRegistry([clock, clock])).toThrow('Two tools are called "current_time".');
  for (const name of ['', 'Get', 'a-b', '1a', 'x'.repeat(65)]) {
    expect(() => createToolRegistry([{ ...clock, name }])).toThrow('Tool name');
  }
});

/** `memory_store` and `memory_recall`: the model's hands on the long-term memory, which it reaches only through here. */
import { z } from 'zod';
import { headOf } from './clean-text.js';
import { defineTool, type ToolContext } from './tool.js';

/** Whose memory, and from where: kept with every change. */
export type MemoryActor = ToolContext['actor'] & { sessionId: string; runId: string };

/** What these tools need of the memory. Throws `ToolError` for what the model can correct. */
export interface MemoryAccess {
  /** The same key overwrites. */
  store(entry: { key: string; content: string; importance?: number }, actor: MemoryActor): Promise<void>;
  /** Best match first; nothing that the actor may not see. Times are ms since the epoch, both inclusive. */
  recall(
    query: string,
    options: { limit: number; since?: number; until?: number },
    actor: MemoryActor,
  ): Promise<RecalledEntry[]>;
  /** Summaries of earlier conversations; the newest when `query` is empty. */
  timeline(
    query: string,
    options: { limit: number; since?: number; until?: number },
    actor: MemoryActor,
  ): Promise<RecalledEntry[]>;
  forget(key: string, actor: MemoryActor): Promise<void>;
}

export interface RecalledEntry {
  key: string;
  content: string;
  /** ms since the epoch. */
  updatedAt: number;
}

/** Longest content of one entry, in UTF-16 units. */
const maxContentLength = 8000;
/** A longer entry is shown by its beginning when several are listed. */
const maxShownLength = 2000;

export function memoryStoreTool(memory: MemoryAccess) {
  return defineTool({
    name: 'memory_store',
    description:
      'Remember a lasting fact about the person or their world. The same key overwrites. Never store secrets.',
    input: z.strictObject({
      key: z.string().trim().min(1).max(200).describe('short and specific, e.g. "favourite tea"'),
      content: z.string().trim().min(1).max(maxContentLength).describe('the fact, understandable by itself'),
      importance: z.number().min(0).max(1).optional().describe('0 to 1'),
    }),
    isReadOnly: false,
    async run({ key, content, importance }, context) {
      await memory.store({ key, content, ...(importance !== undefined && { importance }) }, actorOf(context));
      return `Remembered as "${key}".`;
    },
  });
}

export function memoryRecallTool(memory: MemoryAccess) {
  return defineTool({
    name: 'memory_recall',
    description: 'Search what was remembered earlier, best match first.',
    input: z.strictObject({
      query: z.string().trim().min(1).max(1000).describe('words to look for'),
      limit: z.int().min(1).max(50).default(10),
      since: isoTime('earliest').optional(),
      until: isoTime('latest').optional(),
    }),
    isReadOnly: true,
    async run({ query, limit, ...times }, context) {
      const entries = await memory.recall(query, { limit, ...rangeOf(times) }, actorOf(context));
      if (entries.length === 0) return 'Nothing was found.';
      return entries
        .map(({ key, content, updatedAt }) => `- ${key}: ${shown(content)} (${isoDay(updatedAt)})`)
        .join('\n');
    },
  });
}

export function timelineRecallTool(memory: MemoryAccess) {
  return defineTool({
    name: 'timeline_recall',
    description: 'Search the summaries of earlier conversations; without a query the newest ones.',
    input: z.strictObject({
      query: z.string().trim().max(1000).default('').describe('words to look for'),
      limit: z.int().min(1).max(20).default(5),
      since: isoTime('earliest').optional(),
      until: isoTime('latest').optional(),
    }),
    isReadOnly: true,
    async run({ query, limit, ...times }, context) {
      const entries = await memory.timeline(query, { limit, ...rangeOf(times) }, actorOf(context));
      if (entries.length === 0) return 'Nothing was found.';
      return entries
        .map(({ key, content, updatedAt }) => `- ${isoDay(updatedAt)} ${key}: ${shown(content)}`)
        .join('\n');
    },
  });
}

export function memoryForgetTool(memory: MemoryAccess) {
  return defineTool({
    name: 'memory_forget',
    description: 'Forget one remembered fact for good, by its key.',
    input: z.strictObject({ key: z.string().trim().min(1).max(200) }),
    isReadOnly: false,
    async run({ key }, context) {
      await memory.forget(key, actorOf(context));
      return `Forgotten: "${key}".`;
    },
  });
}

function rangeOf({ since, until }: { since?: string | undefined; until?: string | undefined }) {
  return {
    ...(since !== undefined && { since: Date.parse(since) }),
    ...(until !== undefined && { until: lastInstantOf(until) }),
  };
}

function isoTime(which: string) {
  return z
    .string()
    .refine((text) => /^\d{4}-\d{2}-\d{2}/.test(text) && !Number.isNaN(Date.parse(text)), 'must be like 2026-01-31')
    .describe(`${which} time of change, e.g. 2026-01-31`);
}

/** A day alone means until its end. */
function lastInstantOf(text: string): number {
  const dayMs = 86_400_000;
  return Date.parse(text) + (text.length === 10 ? dayMs - 1 : 0);
}

function shown(content: string): string {
  return content.length > maxShownLength ? `${headOf(content, maxShownLength)}…` : content;
}

function isoDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

function actorOf({ actor, sessionId, runId }: ToolContext): MemoryActor {
  return { ...actor, sessionId, runId };
}

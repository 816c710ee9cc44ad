/** The one shape of a memory, and its bounds. */
import { z } from 'zod';
import type { Scope } from './scopes.js';

/** Knowledge is kept and injected; a timeline entry sums up a stretch of talk and expires. */
export const categories = ['knowledge', 'timeline'] as const;
/** `system`: always in the prompt. `important`: kept. `daily`: of one day, expires. `misc`: expires soon, unless it proves useful. */
export const tiers = ['system', 'important', 'daily', 'misc'] as const;
export type Category = (typeof categories)[number];
export type Tier = (typeof tiers)[number];

/** All times in ms since the epoch. */
export interface MemoryEntry {
  id: string;
  /** Unique within its scope: the same key overwrites. */
  key: string;
  content: string;
  category: Category;
  tier: Tier;
  scope: Scope;
  /** 0 to 1. */
  importance: number;
  /** Where it was learnt; null when a person wrote it outside a dialog. */
  sessionId: string | null;
  runId: string | null;
  /** Who caused the last change, e.g. `telegram:42` or `consolidation`. */
  changedBy: string;
  createdAt: number;
  updatedAt: number;
  lastUsedAt: number | null;
  /** How often it was recalled for an answer. */
  useCount: number;
  /** Null: does not expire by itself (timeline entries do, by `memory.timelineDays`). */
  expiresAt: number | null;
}

export type ScoredMemory = MemoryEntry & {
  /** Above 0, higher is better; comparable within one answer only. */
  score: number;
};

/** Longest key and content, in UTF-16 units. */
export const maxKeyLength = 200;
export const maxContentLength = 8000;
/** Entries of one scope. Beyond it the least valuable `misc`, `daily` and `timeline` entries give way, never others. */
export const maxPerScope = 10_000;
/** Earlier contents kept of one entry. */
export const maxChangesPerEntry = 50;

const text = (maxLength: number) => z.string().trim().min(1).max(maxLength);

/** What a person or the model says about a memory; defaults depend on what is there already. */
export const memoryFields = z.object({
  key: text(maxKeyLength),
  content: text(maxContentLength),
  category: z.enum(categories).optional(),
  tier: z.enum(tiers).optional(),
  importance: z.number().min(0).max(1).optional(),
});

const time = z.int().min(0);

/** One entry of an exported file. */
export const exportedMemory = memoryFields.required().extend({
  scope: z.string().regex(/^(user|chat|project|agent|session|task):./),
  sessionId: z.string().nullable().default(null),
  createdAt: time,
  updatedAt: time,
  useCount: z.int().min(0).default(0),
  lastUsedAt: time.nullable().default(null),
  expiresAt: time.nullable().default(null),
});

export const exportFile = z.object({
  format: z.literal('picobot-memories'),
  version: z.literal(1),
  memories: z.array(exportedMemory),
});
export type ExportFile = z.output<typeof exportFile>;

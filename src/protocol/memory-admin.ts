/** Long-term memory as the owner's tools see it (HTTP, page, command line): every scope, named as text `kind:owner`. */
import { z } from 'zod';

export const memoryCategories = ['knowledge', 'timeline'] as const;
export const memoryTiers = ['system', 'important', 'daily', 'misc'] as const;

export interface MemoryView {
  id: string;
  key: string;
  content: string;
  category: (typeof memoryCategories)[number];
  tier: (typeof memoryTiers)[number];
  scope: string;
  /** 0 to 1. */
  importance: number;
  createdAt: number;
  updatedAt: number;
  /** Only in answers to a query; higher is better. */
  score?: number;
}

const text = (maxLength: number) => z.string().trim().min(1).max(maxLength);
const fields = z.object({
  key: text(200),
  content: text(8000),
  category: z.enum(memoryCategories).optional(),
  tier: z.enum(memoryTiers).optional(),
  importance: z.number().min(0).max(1).optional(),
});

/** `scope` defaults to the owner's own. */
export const newMemoryBody = fields.extend({ scope: z.string().optional() });
export const memoryChangeBody = fields
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'give key, content, category, tier or importance');

const instant = z
  .string()
  .refine(
    (value) => /^\d{10,15}$/.test(value) || !Number.isNaN(Date.parse(value)),
    'must be a time like 2026-01-31T09:00Z',
  )
  .transform((value) => (/^\d{10,15}$/.test(value) ? Number(value) : Date.parse(value)));

/** Without `query`: newest change first; with it: best match first. `since` and `until` are inclusive. */
export const memoryListQuery = z.object({
  query: z.string().max(10_000).optional(),
  category: z.enum(memoryCategories).optional(),
  tier: z.enum(memoryTiers).optional(),
  scope: z.string().optional(),
  since: instant.optional(),
  until: instant.optional(),
  limit: z
    .string()
    .regex(/^\d{1,3}$/, 'must be 1 to 100')
    .transform(Number)
    .optional(),
  cursor: z.string().max(100).optional(),
});

export type NewMemoryBody = z.output<typeof newMemoryBody>;
export type MemoryChangeBody = z.output<typeof memoryChangeBody>;
export type MemoryListQuery = z.output<typeof memoryListQuery>;

/** All throw `UserError`: `memory_not_found`, `memory_ambiguous`, `memory_invalid`, `memory_full`, `secret_refused`. */
export interface MemoryAdmin {
  find(query: MemoryListQuery): Promise<{ items: MemoryView[]; nextCursor?: string }>;
  /** The same key in the same scope overwrites. */
  add(memory: NewMemoryBody): { entry: MemoryView; isNew: boolean };
  /** `reference` is a key or an id; `scope` tells equal keys apart. */
  get(reference: string, scope: string | undefined): MemoryView;
  history(reference: string, scope: string | undefined): unknown[];
  edit(reference: string, change: MemoryChangeBody, scope: string | undefined): MemoryView;
  forget(reference: string, scope: string | undefined): void;
  exportAll(scope: string | undefined): unknown;
  importAll(file: unknown, scope: string | undefined): unknown;
}

/** Memories over HTTP, for the owner: list, search, add, edit, forget, export, import. */
import type { Hono } from 'hono';
import { z } from 'zod';
import { categories, memoryFields, tiers } from '../memory/memory-entry.js';
import type { MemoryStore } from '../memory/memory-store.js';
import type { Writer } from '../memory/memory-writes.js';
import { parseScope, type Scope } from '../memory/scopes.js';
import { UserError } from '../protocol/errors.js';
import { checkShape, readJsonBytes } from '../protocol/read-json.js';
import { withoutUndefined } from '../protocol/without-undefined.js';
import type { HostEnv } from './http-host.js';

const instant = z
  .string()
  .refine(
    (text) => /^\d{10,15}$/.test(text) || !Number.isNaN(Date.parse(text)),
    'must be a time like 2026-01-31T09:00Z',
  )
  .transform((text) => (/^\d{10,15}$/.test(text) ? Number(text) : Date.parse(text)));

const memoryQuery = z.object({
  query: z.string().max(10_000).optional(),
  category: z.enum(categories).optional(),
  tier: z.enum(tiers).optional(),
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
const newMemory = memoryFields.extend({ scope: z.string().optional() });
const memoryChange = memoryFields
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'give key, content, category, tier or importance');

/** `home`: where a fact without a scope goes. */
export function addMemoryRoutes(routes: Hono<HostEnv>, memory: MemoryStore, home: Scope): void {
  const scopesFor = (scope: string | undefined): Scope[] =>
    scope === undefined ? [...new Set([home, ...memory.knownScopes()])] : [parseScope(scope)];
  const writerFor = (scopes: readonly Scope[]): Writer => ({ by: 'http:owner', writable: scopes });

  routes.get('/api/memory', async (c) => {
    const { query, scope, limit, cursor, ...filter } = checkShape(memoryQuery, c.req.query());
    const options = withoutUndefined({ ...filter, scopes: scopesFor(scope), limit, cursor });
    if (query === undefined) return c.json(memory.list(options));
    return c.json({ items: await memory.recall(query, options) });
  });
  routes.post('/api/memory', (c) => {
    const { scope, ...fields } = checkShape(newMemory, readJsonBytes(c.env.body));
    const target = scope === undefined ? home : parseScope(scope);
    const { entry, outcome } = memory.store({ ...withoutUndefined(fields), scope: target }, writerFor([target]));
    return c.json(entry, outcome === 'created' ? 201 : 200);
  });
  routes.get('/api/memory/export', (c) => c.json(memory.exportMemories(scopesFor(c.req.query('scope')))));
  routes.post('/api/memory/import', (c) => {
    const scope = c.req.query('scope');
    const file = readJsonBytes(c.env.body);
    const scopes = scope === undefined ? scopesIn(file) : [parseScope(scope)];
    return c.json(
      memory.importMemories(file, writerFor(scopes), scope === undefined ? {} : { scope: parseScope(scope) }),
    );
  });
  routes.get('/api/memory/:key', (c) => {
    const entry = memory.get(c.req.param('key'), scopesFor(c.req.query('scope')));
    if (entry) return c.json(entry);
    throw new UserError('memory_not_found', `There is no memory "${c.req.param('key')}".`, { status: 404 });
  });
  routes.get('/api/memory/:key/history', (c) =>
    c.json({ items: memory.history(c.req.param('key'), scopesFor(c.req.query('scope'))) }),
  );
  routes.patch('/api/memory/:key', (c) => {
    const change = withoutUndefined(checkShape(memoryChange, readJsonBytes(c.env.body)));
    return c.json(memory.edit(c.req.param('key'), change, writerFor(scopesFor(c.req.query('scope')))));
  });
  routes.delete('/api/memory/:key', (c) => {
    memory.forget(c.req.param('key'), writerFor(scopesFor(c.req.query('scope'))));
    return c.body(null, 204);
  });
}

/** The owner may write wherever a file says; what is no scope is refused entry by entry. */
function scopesIn(file: unknown): Scope[] {
  const entries = (file as { memories?: { scope?: unknown }[] } | null)?.memories;
  if (!Array.isArray(entries)) return [];
  return [...new Set(entries.flatMap(({ scope }) => (typeof scope === 'string' ? [scope as Scope] : [])))];
}

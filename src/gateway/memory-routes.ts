/** Memories over HTTP, for the owner: list, search, add, edit, forget, export, import. */
import type { Hono } from 'hono';
import { type MemoryAdmin, memoryChangeBody, memoryListQuery, newMemoryBody } from '../protocol/memory-admin.js';
import { checkShape, readJsonBytes } from '../protocol/read-json.js';
import type { HostEnv } from './http-host.js';

export function addMemoryRoutes(routes: Hono<HostEnv>, memory: MemoryAdmin): void {
  routes.get('/api/memory', async (c) => c.json(await memory.find(checkShape(memoryListQuery, c.req.query()))));
  routes.post('/api/memory', (c) => {
    const { entry, isNew } = memory.add(checkShape(newMemoryBody, readJsonBytes(c.env.body)));
    return c.json(entry, isNew ? 201 : 200);
  });
  routes.get('/api/memory/export', (c) => c.json(memory.exportAll(c.req.query('scope')) as object));
  routes.post('/api/memory/import', (c) =>
    c.json(memory.importAll(readJsonBytes(c.env.body), c.req.query('scope')) as object),
  );
  routes.get('/api/memory/:key', (c) => c.json(memory.get(c.req.param('key'), c.req.query('scope'))));
  routes.get('/api/memory/:key/history', (c) =>
    c.json({ items: memory.history(c.req.param('key'), c.req.query('scope')) }),
  );
  routes.patch('/api/memory/:key', (c) => {
    const change = checkShape(memoryChangeBody, readJsonBytes(c.env.body));
    return c.json(memory.edit(c.req.param('key'), change, c.req.query('scope')));
  });
  routes.delete('/api/memory/:key', (c) => {
    memory.forget(c.req.param('key'), c.req.query('scope'));
    return c.body(null, 204);
  });
}

/** Dialogs over HTTP: list, create, read, rename, archive, delete, messages, events. */
import type { Hono } from 'hono';
import type { ControlChannel } from '../protocol/control.js';
import {
  createSessionBody,
  eventsQuery,
  exportQuery,
  importQuery,
  messagesQuery,
  searchQuery,
  sessionListQuery,
  updateSessionBody,
} from '../protocol/http-bodies.js';
import { checkShape, readJsonBytes } from '../protocol/read-json.js';
import { withoutUndefined } from '../protocol/without-undefined.js';
import type { HostEnv } from './http-host.js';

/** Rows read to learn whether there are older messages; not every stored row is one. */
const probeSize = 20;

export function addSessionRoutes(routes: Hono<HostEnv>, control: ControlChannel): void {
  routes.get('/api/sessions', (c) => {
    const filter = checkShape(sessionListQuery, c.req.query());
    return c.json(control.list(withoutUndefined(filter)));
  });
  routes.post('/api/sessions', (c) => {
    const options = checkShape(createSessionBody, c.env.body.length === 0 ? {} : readJsonBytes(c.env.body));
    return c.json(control.create(withoutUndefined(options)), 201);
  });
  routes.get('/api/search', async (c) => {
    const { query, ...options } = checkShape(searchQuery, c.req.query());
    return c.json({
      items: await control.search(query, withoutUndefined({ ...options, recent: query.trim() === '' })),
    });
  });
  routes.post('/api/sessions/import', (c) => {
    const { channel, chatId } = checkShape(importQuery, c.req.query());
    return c.json(control.importDialog({ channel, chatId }, readJsonBytes(c.env.body)), 201);
  });
  routes.post('/api/sessions/:id/restore', (c) => c.json(control.restore(c.req.param('id'))));
  routes.post('/api/sessions/:id/switch', (c) => c.json(control.switchTo(c.req.param('id'))));
  routes.get('/api/sessions/:id', (c) => c.json(control.get(c.req.param('id'))));
  routes.patch('/api/sessions/:id', (c) => {
    const change = checkShape(updateSessionBody, readJsonBytes(c.env.body));
    return c.json(control.update(c.req.param('id'), withoutUndefined(change)));
  });
  routes.delete('/api/sessions/:id', async (c) => {
    await control.delete(c.req.param('id'));
    return c.body(null, 204);
  });
  routes.get('/api/sessions/:id/messages', (c) => {
    const options = checkShape(messagesQuery, c.req.query());
    const id = c.req.param('id');
    const items = control.messages(id, withoutUndefined(options));
    const oldest = items[0];
    const hasOlder = oldest !== undefined && control.messages(id, { before: oldest.id, limit: probeSize }).length > 0;
    return c.json(hasOlder ? { items, nextCursor: String(oldest.id) } : { items });
  });
  routes.get('/api/sessions/:id/events', (c) => {
    const { after, limit } = checkShape(eventsQuery, c.req.query());
    const items = control.events(c.req.param('id'), after, limit);
    const last = items.at(-1);
    return c.json(last && items.length >= limit ? { items, nextCursor: String(last.id) } : { items });
  });
  routes.get('/api/sessions/:id/export', (c) => {
    const { format } = checkShape(exportQuery, c.req.query());
    const text = control.exportDialog(c.req.param('id'), format);
    const type = format === 'md' ? 'text/markdown; charset=utf-8' : 'application/json';
    return c.body(text, 200, {
      'Content-Type': type,
      'Content-Disposition': `attachment; filename="dialog.${format}"`,
    });
  });
}

/** What a channel gets to add its own doors to the one HTTP server. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Hono } from 'hono';

export interface HttpHost {
  /** Routes under `/api` and `/v1` are behind the token and origin checks already; `/webhooks` are not. */
  readonly routes: Hono;
  /** Takes over WebSocket upgrades on `path`; called only after token, Origin and Host were checked. */
  onUpgrade(path: string, handler: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): void;
}

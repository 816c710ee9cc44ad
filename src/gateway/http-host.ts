/** What a channel gets to add its own doors to the one HTTP server. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { HttpBindings } from '@hono/node-server';
import type { Hono } from 'hono';

export interface HostEnv {
  Bindings: HttpBindings & {
    /** The whole request body, already within `maxTextBytes`; empty when there is none. */
    body: Uint8Array;
  };
}

export interface HttpHost {
  /**
   * Routes under `/api` and `/v1` are behind the token and origin checks already; `/webhooks` are not.
   * A handler may throw `UserError`: it becomes `{error: {code, message}}` with its status.
   */
  readonly routes: Hono<HostEnv>;
  /** Largest JSON body or text frame, in bytes. */
  readonly maxTextBytes: number;
  /** Takes over WebSocket upgrades on `path`; called only after token, Origin and Host were checked. */
  onUpgrade(path: string, handler: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): void;
  /** Called once, when the server closes: answer whoever still waits, for their sockets end soon. */
  onClose(handler: () => void): void;
}

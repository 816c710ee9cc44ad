/** Failures as `{error: {code, message, details?}}`, for handlers, for requests that reach none, and for raw sockets. */
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { describeError, UserError } from '../protocol/errors.js';

export interface ErrorReply {
  status: number;
  body: string;
  headers: Record<string, string>;
}

export function errorReply(error: unknown): ErrorReply {
  const description = describeError(error);
  const status = error instanceof UserError ? error.status : description.code === 'disk_full' ? 507 : 500;
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer';
  const retryAfter = (description.details as { retryAfterSeconds?: number } | undefined)?.retryAfterSeconds;
  if (retryAfter !== undefined) headers['Retry-After'] = String(retryAfter);
  return { status, body: JSON.stringify({ error: description }), headers };
}

export function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, body, headers } = errorReply(error);
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

/** Refuses a request whose socket has left the HTTP server: an upgrade, or bytes that are not HTTP. */
export function refuseSocket(socket: Duplex, error: unknown): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { status, body, headers } = errorReply(error);
  const lines = Object.entries({ ...headers, Connection: 'close', 'Content-Length': Buffer.byteLength(body) });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n${head}\r\n${body}`, () => socket.destroy());
}

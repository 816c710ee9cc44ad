/** Where the WebSocket is, how one is opened, and why it was refused. */
import { UserError } from '../protocol/errors.js';
import type { Socket } from './link.js';

export interface SocketOptions {
  headers: Record<string, string>;
  handshakeTimeout: number;
  closeTimeout: number;
  maxPayload: number;
  perMessageDeflate: boolean;
}

/** Takes what `ws` takes; a browser's constructor leaves the options out. */
export type SocketConstructor = new (url: string, protocols: string[], options: SocketOptions) => Socket;

export function socketAddress(options: {
  url: string;
  channel?: string | undefined;
  chat?: string | undefined;
}): string {
  const address = below(options.url, 'ws');
  address.protocol = address.protocol.replace('http', 'ws');
  if (options.channel !== undefined) address.searchParams.set('channel', options.channel);
  if (options.chat !== undefined) address.searchParams.set('chat', options.chat);
  return address.href;
}

/** Asks over HTTP, since a failed WebSocket does not say why. Undefined when trying again may help. */
export async function findRefusal(options: {
  url: string;
  token: string;
  fetch?: typeof fetch;
}): Promise<UserError | undefined> {
  try {
    const response = await (options.fetch ?? fetch)(below(options.url, 'api/ping'), {
      headers: { authorization: `Bearer ${options.token}` },
      redirect: 'error',
      signal: AbortSignal.timeout(10_000),
    });
    if (![401, 403, 404].includes(response.status)) return undefined;
    const { error } = (await response.json().catch(() => ({}))) as { error?: { code?: string; message?: string } };
    return new UserError(error?.code ?? 'refused', error?.message ?? 'The server refused the connection.', {
      status: response.status,
    });
  } catch {
    // Not there or not there yet: the next attempt will tell.
    return undefined;
  }
}

/** A path below the gateway's address, which may have a path itself. */
export function below(url: string, path: string): URL {
  return new URL(path, url.endsWith('/') ? url : `${url}/`);
}

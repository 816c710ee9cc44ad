/** Reads a base URL as people paste it, and gives what the wire's SDK expects: no doubled and no missing segment. */
import type { WireFamily } from './wire-types.js';

const endpoints = /\/(chat\/completions|completions|messages|responses|models)$/;

export interface BaseUrl {
  /** Without a slash at the end; the SDK appends `/chat/completions`, `/messages` or `/responses`. */
  base: string;
  /** `?…` to be put behind the endpoint, or empty. */
  query: string;
  /** For messages: says where, never holds a key. */
  host: string;
}

export function readBaseUrl(text: string, family: WireFamily): BaseUrl {
  const url = new URL(text);
  let path = url.pathname.replace(/\/{2,}/g, '/').replace(/\/$/, '');
  path = path.replace(endpoints, '');
  const isBare = path === '';
  if (isBare || (family === 'anthropic' && !path.endsWith('/v1'))) path += '/v1';
  const credentials = url.username ? `${url.username}:${url.password}@` : '';
  return { base: `${url.protocol}//${credentials}${url.host}${path}`, query: url.search, host: url.host };
}

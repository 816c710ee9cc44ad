/** Host names as they stand in `Host` and `Origin` headers and in the configuration. */

/** Lower case, without port, brackets and final dot; undefined when `text` is not `host` or `host:port`. */
export function hostNameOf(text: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^\s:/@[\]]+?))\.?(?::\d{1,5})?$/i.exec(text);
  const name = match?.[1] ?? match?.[2];
  return name?.toLowerCase();
}

export function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '::1' || /^127(?:\.\d{1,3}){3}$/.test(name);
}

/** Listens on every address of the machine. */
export function isWildcard(name: string): boolean {
  return name === '0.0.0.0' || name === '::';
}

/** A socket's address in the spelling that people use: IPv4 without the IPv6 prefix. */
export function plainAddress(address: string | undefined): string {
  return (address ?? '').replace(/^::ffff:(?=\d+\.)/i, '').toLowerCase();
}

/** What people click: a wildcard address becomes loopback. */
export function urlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

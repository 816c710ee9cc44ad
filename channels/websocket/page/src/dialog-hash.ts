/** The dialog on the screen, in the URL: `#default`, `#d_…`, or a full session id. */

export function dialogHash(key: string): string {
  return `#${encodeURIComponent(key)}`;
}

/** `fallback` for an empty or broken hash. */
export function keyOfHash(hash: string, fallback: string): string {
  try {
    return decodeURIComponent(hash.replace(/^#/, '')) || fallback;
  } catch {
    return fallback;
  }
}

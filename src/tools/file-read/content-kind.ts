/** Tells text from binary data by the beginning of a file. */

import type { Encoding } from './text-bytes.js';

export type ContentKind =
  /** `bomLength` bytes come before the text. */
  { isText: true; encoding: Encoding; bomLength: number } | { isText: false; description: string };

/** First bytes of formats that people keep beside text. */
const formats: [bytes: string, description: string][] = [
  ['\x89PNG', 'a PNG picture'],
  ['\xff\xd8\xff', 'a JPEG picture'],
  ['GIF8', 'a GIF picture'],
  ['%PDF-', 'a PDF document'],
  ['PK\x03\x04', 'a ZIP archive or an office document'],
  ['\x1f\x8b', 'a gzip archive'],
  ['7z\xbc\xaf', 'a 7-Zip archive'],
  ['SQLite format 3\0', 'an SQLite database'],
  ['\x7fELF', 'a program'],
  ['MZ', 'a program'],
  ['OggS', 'an Ogg recording'],
  ['ID3', 'an MP3 recording'],
  ['\xd0\xcf\x11\xe0', 'an old office document'],
];

/** `head`: the first bytes of the file; all of them when `isWhole`. */
export function contentKind(head: Uint8Array, isWhole: boolean): ContentKind {
  const start = Buffer.from(head.subarray(0, 16)).toString('latin1');
  if (start.startsWith('\xef\xbb\xbf')) return { isText: true, encoding: 'utf-8', bomLength: 3 };
  if (start.startsWith('\xff\xfe') && !start.startsWith('\xff\xfe\0\0')) {
    return { isText: true, encoding: 'utf-16le', bomLength: 2 };
  }
  if (start.startsWith('\xfe\xff')) return { isText: true, encoding: 'utf-16be', bomLength: 2 };
  const format = formats.find(([bytes]) => start.startsWith(bytes));
  const isReadable = !hasBinaryBytes(head);
  // Two letters alone may also begin a text.
  if (format && (format[0] !== 'MZ' || !isReadable)) return { isText: false, description: format[1] };
  if (!isReadable) return { isText: false, description: 'binary data' };
  if (!isUtf8(head, isWhole)) return { isText: false, description: 'binary, or text that is neither UTF-8 nor UTF-16' };
  return { isText: true, encoding: 'utf-8', bomLength: 0 };
}

/** More than one in a hundred bytes, and more than a few, are control characters that text does not use. */
export function hasBinaryBytes(bytes: Uint8Array): boolean {
  let count = 0;
  for (const byte of bytes) {
    if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27)) count += 1;
  }
  return count > 3 + bytes.length / 100;
}

function isUtf8(bytes: Uint8Array, isWhole: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
    return true;
  } catch {
    return false;
  }
}

/** Lines and characters in the raw bytes of a text. In UTF-16 every position is at a whole unit of two bytes. */

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

export function unitBytes(encoding: Encoding): 1 | 2 {
  return encoding === 'utf-8' ? 1 : 2;
}

/** -1 when there is none at or after `from`. */
export function indexOfNewline(encoding: Encoding, bytes: Buffer, from: number): number {
  for (let index = bytes.indexOf(10, from); index !== -1; index = bytes.indexOf(10, index + 1)) {
    const start = encoding === 'utf-16be' ? index - 1 : index;
    if (start % unitBytes(encoding) === 0 && start >= from && isNewlineAt(encoding, bytes, start)) return start;
  }
  return -1;
}

export function isNewlineAt(encoding: Encoding, bytes: Buffer, index: number): boolean {
  if (encoding === 'utf-8') return bytes[index] === 10;
  const [high, low] = encoding === 'utf-16be' ? [0, 1] : [1, 0];
  return bytes[index + high] === 0 && bytes[index + low] === 10;
}

export function countNewlines(encoding: Encoding, bytes: Buffer): number {
  let count = 0;
  for (let index = indexOfNewline(encoding, bytes, 0); index !== -1; count += 1) {
    index = indexOfNewline(encoding, bytes, index + unitBytes(encoding));
  }
  return count;
}

/** The length of `bytes` without a character that is cut off at their end. */
export function wholeCharactersLength(encoding: Encoding, bytes: Buffer): number {
  const { length } = bytes;
  if (encoding !== 'utf-8') {
    const even = length - (length % 2);
    return isSurrogateAt(encoding, bytes, even - 2, 'first') ? even - 2 : even;
  }
  for (let back = 1; back <= Math.min(3, length); back += 1) {
    const byte = bytes[length - back] as number;
    if (byte < 0x80) return length;
    if (byte >= 0xc0) {
      const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return back < wanted ? length - back : length;
    }
  }
  return length;
}

/** How many of the first bytes, found at `position` of the file, belong to a character that began before them. */
export function tornStartLength(encoding: Encoding, bytes: Buffer, position: number): number {
  if (encoding !== 'utf-8') {
    const odd = position % 2;
    return odd + (isSurrogateAt(encoding, bytes, odd, 'second') ? 2 : 0);
  }
  let torn = 0;
  while (torn < Math.min(3, bytes.length) && ((bytes[torn] as number) & 0xc0) === 0x80) torn += 1;
  return torn;
}

function isSurrogateAt(encoding: Encoding, bytes: Buffer, index: number, half: 'first' | 'second'): boolean {
  const highByte = bytes[encoding === 'utf-16be' ? index : index + 1];
  return highByte !== undefined && (highByte & 0xfc) === (half === 'first' ? 0xd8 : 0xdc);
}

/** Tells whether two texts say the same thing in nearly the same words. */
import { normalise } from './normalise.js';

export interface Fingerprint {
  /** Every three neighbouring letters or digits. */
  triples: ReadonlySet<string>;
  numbers: string;
}

/** Share of common triples from which two texts count as one: in a short text no other word has room. */
const sameFrom = 0.9;

export function fingerprintOf(text: string): Fingerprint {
  const plain = normalise(text);
  const characters = [...plain.replace(/[^\p{L}\p{N}]+/gu, '')];
  const size = Math.min(3, characters.length);
  const triples = characters
    .slice(0, characters.length - size + 1)
    .map((_, index) => characters.slice(index, index + size).join(''));
  return { triples: new Set(triples), numbers: (plain.match(/\p{N}+/gu) ?? []).join(' ') };
}

/** Texts with different numbers in them never are: "port 8080" is not "port 8081". */
export function isNearDuplicate(a: Fingerprint, b: Fingerprint): boolean {
  if (a.numbers !== b.numbers) return false;
  const [small, large] = a.triples.size < b.triples.size ? [a.triples, b.triples] : [b.triples, a.triples];
  if (small.size < large.size * sameFrom) return false;
  let common = 0;
  for (const triple of small) if (large.has(triple)) common += 1;
  const all = small.size + large.size - common;
  return all === 0 || common / all >= sameFrom;
}

/** "Did you mean": the nearest known name of an unknown key. */
import { type ConfigPath, formatPath } from './config-path.js';
import { knownKeys, knownPaths, type Schema } from './schema-walk.js';

/** A name that `schema` knows and that `key` is likely meant to be, or the place where this very key belongs. */
export function suggestKey(key: string, schema: Schema, path: ConfigPath): string | undefined {
  const near = nearest(key, knownKeys(schema) ?? []);
  if (near !== undefined) return near;
  const homes = knownPaths().filter((known) => known.at(-1) === key);
  const home = homes.sort((one, other) => one.length - other.length)[0];
  const isHere = home && formatPath(home) === formatPath([...path, key]);
  return home && !isHere ? formatPath(home) : undefined;
}

/** The nearest of `names` within a third of the key's length, case, `_` and `-` aside; else one that holds it or is held by it. */
export function nearest(key: string, names: readonly string[]): string | undefined {
  const plain = plainName(key);
  const limit = Math.max(1, Math.floor(plain.length / 3));
  let best: { name: string; distance: number } | undefined;
  for (const name of names) {
    const distance = editDistance(plain, plainName(name));
    if (distance <= limit && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { name, distance };
  }
  return best?.name ?? names.find((name) => isPart(plain, plainName(name)));
}

/** `botToken` for `token`, or the other way round. */
function isPart(one: string, other: string): boolean {
  return Math.min(one.length, other.length) >= 4 && (one.includes(other) || other.includes(one));
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

/** Letters to insert, delete, replace or swap with their neighbour. */
function editDistance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      let distance = Math.min(current[column - 1]! + 1, last[column]! + 1, last[column - 1]! + (isSame ? 0 : 1));
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (row > 1 && column > 1 && isSwapped) distance = Math.min(distance, beforeLast[column - 2]! + 1);
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return last[other.length]!;
}

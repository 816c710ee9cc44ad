/** The part of a text around what was looked for, with each hit between ⟦ and ⟧. */
import { normalise } from './normalise.js';

/** What a search looks for in normalised text. */
export interface Needle {
  text: string;
  /** Must begin where a word begins: for scripts with spaces. */
  isWord: boolean;
}

interface Hit {
  start: number;
  end: number;
}

/** Longest text that is looked through. */
const maxTextLength = 20_000;
const maxHits = 500;

export function snippetOf(text: string, needles: readonly Needle[], maxLength = 160): string {
  const { plain, starts, source } = normalisedWithPlaces(text.slice(0, maxTextLength));
  const hits = needles
    .flatMap((needle) =>
      placesOf(plain, needle, maxHits).map((start) => ({ start, end: endOfHit(plain, start, needle) })),
    )
    .map(({ start, end }) => ({ start: starts[start]!, end: starts[end] ?? source.length }));
  const merged = merge(hits);
  const from = bestStart(merged, maxLength, source.length);
  const to = Math.min(source.length, from + maxLength);
  let snippet = from > 0 ? '…' : '';
  let place = from;
  for (const hit of merged) {
    if (hit.start < from || hit.end > to) continue;
    snippet += `${source.slice(place, hit.start)}⟦${source.slice(hit.start, hit.end)}⟧`;
    place = hit.end;
  }
  return `${snippet}${source.slice(place, to)}${to < source.length ? '…' : ''}`
    .replace(/\s+|\p{Surrogate}/gu, ' ')

    .trim();
}

/** Where the needle stands in normalised text, at most `limit` places. */
export function placesOf(plain: string, { text, isWord }: Needle, limit: number): number[] {
  const places: number[] = [];
  for (let at = plain.indexOf(text); at >= 0 && places.length < limit; at = plain.indexOf(text, at + text.length)) {
    if (!isWord || at === 0 || !/[\p{L}\p{N}]/u.test(plain[at - 1]!) || /[^a-z0-9]/.test(plain[at - 1]!))
      places.push(at);
  }
  return places;
}

/** A word is looked for by its stem and marked whole. */
function endOfHit(plain: string, start: number, { text, isWord }: Needle): number {
  let end = start + text.length;
  while (isWord && end < plain.length && /[a-z0-9]/.test(plain[end]!)) end += 1;
  return end;
}

/** `starts[i]`: the place in `source` that the normalised unit `i` comes from. */
function normalisedWithPlaces(source: string): { plain: string; starts: number[]; source: string } {
  const starts: number[] = [];
  let plain = '';
  for (const match of source.matchAll(/\P{M}\p{M}*|\p{M}+/gu)) {
    const part = normalise(match[0]);
    for (let index = 0; index < part.length; index++) starts.push(match.index);
    plain += part;
  }
  return { plain, starts, source };
}

function merge(hits: Hit[]): Hit[] {
  const merged: Hit[] = [];
  for (const hit of hits.sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1);
    if (last && hit.start <= last.end) last.end = Math.max(last.end, hit.end);
    else merged.push({ ...hit });
  }
  return merged;
}

/** The window with most hits, a quarter of it before the first one. */
function bestStart(hits: readonly Hit[], maxLength: number, length: number): number {
  let best = 0;
  let most = 0;
  hits.forEach((first, index) => {
    let count = index;
    while (count < hits.length && hits[count]!.end <= first.start + maxLength * 0.75) count += 1;
    if (count - index <= most) return;
    most = count - index;
    best = first.start - Math.floor(maxLength / 4);
  });
  return Math.max(0, Math.min(best, length - maxLength));
}

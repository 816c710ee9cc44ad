/** What a transcript search looks for: each with its expressions for the index and its text for comparing. */
import type { CutText } from './cutter.js';
import { queryTerms, quoted } from './query-terms.js';
import type { Needle } from './snippet.js';
import { pairsOf } from './tokens.js';
import { pairToken } from './transcript-tokens.js';

export interface Concept {
  /** For FTS5: the word as the segmenter sees it. */
  asWord: string;
  /** For FTS5: wherever the characters stand, inside a longer word or across two. */
  anywhere: string;
  needle: Needle;
  /** Belongs to what a message must hold to count as a full match; the others only rank. */
  isStrict: boolean;
}

const maxConcepts = 16;

export function conceptsOf(text: CutText): Concept[] {
  const { words, pairs, characters } = queryTerms(text);
  const spaced = words.filter((word) => text.words.includes(word)).map(spacedWord);
  const ofRuns = words.filter((word) => !text.words.includes(word) && [...word].length > 1);
  // Without the segmenter every pair counts; beside its words they only rank.
  const rest = pairs.filter((pair) => !words.includes(pair)).map((pair) => pairOnly(pair, ofRuns.length === 0));
  const found = [...spaced, ...ofRuns.map(runWord), ...rest];
  // One character is in so many pairs that it is looked for only when there is nothing else.
  return (found.length > 0 ? found : characters.map(character)).slice(0, maxConcepts);
}

function spacedWord(word: string): Concept {
  const match = quoted(word);
  return { asWord: match, anywhere: match, needle: { text: stemOf(word), isWord: true }, isStrict: true };
}

function runWord(word: string): Concept {
  return { asWord: quoted(word), anywhere: allPairs(word), needle: { text: word, isWord: false }, isStrict: true };
}

function pairOnly(pair: string, isStrict: boolean): Concept {
  return { asWord: allPairs(pair), anywhere: allPairs(pair), needle: { text: pair, isWord: false }, isStrict };
}

function character(text: string): Concept {
  const anywhere = `${quoted(pairToken(text))} *`;
  return { asWord: quoted(text), anywhere, needle: { text, isWord: false }, isStrict: true };
}

function allPairs(word: string): string {
  const pairs = pairsOf(word).slice(0, -1);
  return `(${pairs.map((pair) => quoted(pairToken(pair))).join(' AND ')})`;
}

/** The index compares word stems; this is near enough for finding the place. */
function stemOf(word: string): string {
  if (!/^[a-z]{5,}$/.test(word)) return word;
  return word.replace(/(?:ations?|ings?|edly|ed|ies|es|s|ers?|ment|ments|ly|e|y)$/, (end, at: number) =>
    at >= 4 ? '' : end,
  );
}

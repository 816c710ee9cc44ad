/** What a transcript search looks for: each with its expression for the index and its text for comparing. */
import type { CutText } from './cutter.js';
import { queryTerms, quoted } from './query-terms.js';
import type { Needle } from './snippet.js';
import { needsDictionary, pairsOf } from './tokens.js';
import { pairToken } from './transcript-tokens.js';

export interface Concept {
  /** For FTS5. */
  match: string;
  needle: Needle;
  /** Belongs to the messages that hold everything asked for; the others only rank. */
  isStrict: boolean;
  /** Messages that hold it, as far as counted, and what that makes it worth. */
  count: number;
  weight: number;
}

const maxConcepts = 16;

export function conceptsOf(text: CutText): Concept[] {
  const { words, pairs, characters } = queryTerms(text);
  const spaced = words.filter((word) => text.words.includes(word)).map(spacedWord);
  const cut = words
    .filter((word) => !text.words.includes(word) && [...word].length > 1)
    .map((word) => runWord(word, true));
  // Without the segmenter every pair counts; beside its words they only rank.
  const rest = pairs.filter((pair) => !words.includes(pair)).map((pair) => runWord(pair, cut.length === 0));
  const found = [...spaced, ...cut, ...rest];
  // One character is in so many pairs that it is looked for only when there is nothing else.
  return (found.length > 0 ? found : characters.map(character)).slice(0, maxConcepts);
}

function concept(match: string, text: string, isWord: boolean, isStrict: boolean): Concept {
  return { match: `(${match})`, needle: { text, isWord }, isStrict, count: 0, weight: 1 };
}

function spacedWord(word: string): Concept {
  return concept(quoted(word), stemOf(word), true, true);
}

/** The word as the segmenter saw it, or all its pairs: so a word inside a longer one is found too. */
function runWord(word: string, isStrict: boolean): Concept {
  const pairs = pairsOf(word)
    .slice(0, -1)
    .map((pair) => quoted(pairToken(pair)));
  const match = `${pairs.join(' AND ')}`;
  return concept(needsDictionary(word) ? `${quoted(word)} OR (${match})` : `(${match})`, word, false, isStrict);
}

function character(text: string): Concept {
  return concept(`${quoted(text)} OR ${quoted(pairToken(text))} *`, text, false, true);
}

/** The index compares word stems; this is near enough for finding the place. */
function stemOf(word: string): string {
  if (!/^[a-z]{5,}$/.test(word)) return word;
  return word.replace(/(?:ations?|ings?|edly|ed|ies|es|s|ers?|ment|ments|ly|e|y)$/, (end, at: number) =>
    at >= 4 ? '' : end,
  );
}

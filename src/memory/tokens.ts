/**
 * Cuts text into what the indexes hold: words of scripts with spaces, and runs of scripts without.
 * Runs are cut further by the segmenter; their pairs of characters are indexed beside its words.
 */
import { fold } from './normalise.js';

export interface TextParts {
  /** Normalised, in order. Identifiers are there whole (`sap1293164`) and in pieces (`sap`, `1293164`). */
  words: string[];
  /** Normalised stretches of Chinese, Japanese, Korean, Thai and the like. */
  runs: string[];
}

const unspacedClass = '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}ー';
const letter = `(?:(?![${unspacedClass}])[\\p{L}\\p{N}\\p{M}])`;
/** A run, or words joined by punctuation without spaces and with an optional `++` or `#`, or one pictograph. */
const piece = new RegExp(
  `[${unspacedClass}\\p{M}]+|${letter}+(?:[-_./:@&'’]${letter}+)*[+#]{0,2}|\\p{Extended_Pictographic}`,
  'gu',
);
const startsRun = new RegExp(`^[${unspacedClass}]`, 'u');
/** `rb7` is two words, and so is `waitState`. */
const numberParts = /\p{N}+|\P{N}+/gu;
const caseParts = /\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|\p{N}+/gu;
const han = /\p{sc=Han}/u;
/** Longer ones are cut off, in text and query alike. */
const maxTokenLength = 64;

export function partsOf(text: string): TextParts {
  const parts: TextParts = { words: [], runs: [] };
  for (const [found] of text.normalize('NFKC').matchAll(piece)) {
    if (startsRun.test(found)) parts.runs.push(fold(found));
    else addWords(found, parts.words);
  }
  return parts;
}

/** Whether cutting the run into words takes a dictionary. */
export function needsDictionary(run: string): boolean {
  return run.length > 1 && han.test(run);
}

/** Every two neighbouring characters, and the last one alone: so a query for one character is a query for a prefix. */
export function pairsOf(run: string): string[] {
  const characters = [...run];
  return characters.map((character, index) => character + (characters[index + 1] ?? ''));
}

function addWords(found: string, words: string[]): void {
  const bare = found.replace(/[+#]+$/, '');
  if (bare !== found) add(words, fold(found));
  const joined = bare.split(/[-_./:@&'’]/);
  for (const word of joined) {
    add(words, fold(word));
    const pieces = new Set([numberParts, caseParts].flatMap((parts) => word.match(parts) ?? []));
    for (const part of pieces) {
      if (part !== word && (part.length > 1 || /\p{N}/u.test(part))) add(words, fold(part));
    }
  }
  if (joined.length > 1) add(words, fold(joined.join('')));
}

function add(words: string[], token: string): void {
  words.push(token.length > maxTokenLength ? token.slice(0, maxTokenLength) : token);
}

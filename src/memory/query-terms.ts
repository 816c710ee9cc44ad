/** What a query looks for: its words without those that say nothing, and pairs of characters for what no word covers. */
import type { CutText } from './cutter.js';
import { particles, stopWords } from './stop-words.js';
import { pairsOf } from './tokens.js';

export interface QueryTerms {
  words: string[];
  pairs: string[];
  /** Single characters, looked for as the beginning of a pair. */
  characters: string[];
}

/** Longer queries are read to here. */
export const maxQueryLength = 2000;
const maxTerms = 64;

export function queryTerms(text: CutText): QueryTerms {
  const terms = collect(
    text,
    (term) => !stopWords.has(term),
    (character) => particles.has(character),
  );
  return isEmpty(terms)
    ? collect(
        text,
        () => true,
        () => false,
      )
    : terms;
}

export function isEmpty(terms: QueryTerms): boolean {
  return terms.words.length + terms.pairs.length + terms.characters.length === 0;
}

/** Quoted, so that nothing in it is read as syntax. Tokens hold letters, digits, `+`, `#` and pictographs only. */
export function quoted(token: string): string {
  return `"${token}"`;
}

function collect(
  { words, runWords, runs }: CutText,
  says: (term: string) => boolean,
  isParticle: (character: string) => boolean,
): QueryTerms {
  const characters = [...runWords, ...runs].filter((word) => [...word].length === 1);
  const said = runWords.filter(says);
  // Inside a word a pair is taken as it is; across two words it should not hold a particle.
  const pairs = runs
    .flatMap(pairsOf)
    .filter((pair) => [...pair].length > 1 && says(pair))
    .filter((pair) => said.some((word) => word.includes(pair)) || ![...pair].some(isParticle));
  const unique = (list: string[]) => [...new Set(list)].slice(0, maxTerms);
  return {
    words: unique([...words.filter(says), ...said]),
    pairs: unique(pairs),
    characters: unique(characters.filter(says)),
  };
}

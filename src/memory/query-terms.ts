/** What a query looks for: its words without those that say nothing, and pairs of characters for what no word covers. */
import type { CutText } from './cutter.js';
import { stopWords } from './stop-words.js';
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
  const terms = collect(text, (term) => !stopWords.has(term));
  return isEmpty(terms) ? collect(text, () => true) : terms;
}

export function isEmpty(terms: QueryTerms): boolean {
  return terms.words.length + terms.pairs.length + terms.characters.length === 0;
}

/** Quoted, so that nothing in it is read as syntax. Tokens hold letters, digits, `+`, `#` and pictographs only. */
export function quoted(token: string): string {
  return `"${token}"`;
}

function collect({ words, runWords, runs }: CutText, says: (term: string) => boolean): QueryTerms {
  const characters = [...runWords, ...runs].filter((word) => [...word].length === 1);
  const pairs = runs.flatMap(pairsOf).filter((pair) => [...pair].length > 1 && says(pair) && [...pair].every(says));
  const unique = (list: string[]) => [...new Set(list)].slice(0, maxTerms);
  return {
    words: unique([...words, ...runWords].filter(says)),
    pairs: unique(pairs),
    characters: unique(characters.filter(says)),
  };
}

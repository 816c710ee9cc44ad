/** Finds memories by words: full text over words and pairs of characters, plain substrings where that finds nothing. */
import type { Database } from '../storage/database.js';
import { scopeToken } from './memory-index.js';
import type { RowFilter } from './memory-vectors.js';
import { type QueryTerms, quoted } from './query-terms.js';
import type { Scope } from './scopes.js';
import { createStatements } from './statements.js';
import { createTermFrequencies } from './term-frequencies.js';

export interface Match {
  seq: number;
  /** Above 0, higher is better. */
  relevance: number;
}

export interface MemorySearch {
  byWords(terms: QueryTerms, scopes: readonly Scope[], filter: RowFilter, limit: number): Match[];
  /** P23's last resort, for what no token stands for: a part of a Latin word, a sign. */
  bySubstring(query: string, filter: RowFilter, limit: number): Match[];
}

/** Weights of the columns scope, key, words, pairs. Measured with the labelled set in bench/recall. */
const weights = '0.0, 2.0, 1.0, 0.4';
/** More scopes than this are left to the rows' own condition. */
const maxScopeTokens = 64;
/** A term in as many memories as this tells little, and comparing all of them takes long. */
const frequentFrom = 500;
/** The rarest terms of a long message say what it is about. */
const maxTerms = 16;

/** A message with as many rare words says what it is about without pairs of characters. */
const enoughWords = 8;

export function createMemorySearch(db: Database): MemorySearch {
  const prepare = createStatements(db);
  const frequencies = createTermFrequencies(db, 'memory_index', frequentFrom);

  /** The rarest terms. Frequent words stay where there is no rare word: a pair across two words alone would mislead. */
  function telling({ words, pairs, characters }: QueryTerms): string[] {
    const counted = (expressions: string[]) =>
      expressions.map((match) => ({ match, count: frequencies.of(match) })).filter(({ count }) => count > 0);
    const isRare = ({ count }: { count: number }) => count < frequentFrom;
    const ofWords = counted(words.map((word) => `{key words} : ${quoted(word)}`));
    const rareWords = ofWords.filter(isRare);
    if (rareWords.length >= enoughWords) return rarestOf(rareWords);
    const ofPairs = counted([
      ...pairs.map((pair) => `pairs : ${quoted(pair)}`),
      ...characters.map((character) => `pairs : ${quoted(character)} *`),
    ]);
    const rare = [...(rareWords.length > 0 ? rareWords : ofWords), ...ofPairs.filter(isRare)];
    return rarestOf(rare.length > 0 ? rare : ofPairs);
  }

  return {
    byWords(terms, scopes, { where, parameters }, limit) {
      const any = telling(terms).join(' OR ');
      if (any === '' || scopes.length === 0) return [];
      const isFew = scopes.length <= maxScopeTokens;
      const own = isFew ? `scope : (${scopes.map((scope) => quoted(scopeToken(scope))).join(' OR ')}) AND ` : '';
      return prepare(
        `SELECT m.seq, -bm25(memory_index, ${weights}) AS relevance
         FROM memory_index CROSS JOIN memories m ON m.seq = memory_index.rowid
         WHERE memory_index MATCH @match AND ${where} ORDER BY relevance DESC LIMIT @limit`,
      ).all({ ...parameters, match: `${own}(${any})`, limit }) as Match[];
    },
    bySubstring(query, { where, parameters }, limit) {
      const pattern = `%${query.trim().replace(/[\\%_]/g, '\\$&')}%`;
      const rows = prepare(
        `SELECT m.seq FROM memories m
         WHERE ${where} AND (m.content LIKE @pattern ESCAPE '\\' OR m.key LIKE @pattern ESCAPE '\\')
         ORDER BY m.importance DESC, m.updated_at DESC LIMIT @limit`,
      ).all({ ...parameters, pattern, limit }) as { seq: number }[];
      return rows.map(({ seq }) => ({ seq, relevance: 1 }));
    },
  };
}

function rarestOf(terms: { match: string; count: number }[]): string[] {
  return terms
    .sort((a, b) => a.count - b.count)
    .slice(0, maxTerms)
    .map(({ match }) => match);
}

/** Finds memories by words: full text over words and pairs of characters, plain substrings where that finds nothing. */
import type { Database } from '../storage/database.js';
import { scopeToken } from './memory-index.js';
import type { RowFilter } from './memory-vectors.js';
import { isEmpty, type QueryTerms, quoted } from './query-terms.js';
import type { Scope } from './scopes.js';

export interface Match {
  seq: number;
  /** Above 0, higher is better. */
  relevance: number;
}

/** Weights of the columns scope, key, words, pairs. Measured with the labelled set in bench/recall. */
const weights = '0.0, 2.0, 1.0, 0.4';
/** More scopes than this are left to the rows' own condition. */
const maxScopeTokens = 64;

export function searchByWords(
  db: Database,
  terms: QueryTerms,
  scopes: readonly Scope[],
  { where, parameters }: RowFilter,
  limit: number,
): Match[] {
  if (isEmpty(terms) || scopes.length === 0) return [];
  return db.sqlite
    .prepare(
      `SELECT m.seq, -bm25(memory_index, ${weights}) AS relevance FROM memory_index CROSS JOIN memories m ON m.seq = memory_index.rowid
       WHERE memory_index MATCH @match AND ${where} ORDER BY relevance DESC LIMIT @limit`,
    )
    .all({ ...parameters, match: matchExpression(terms, scopes), limit }) as Match[];
}

/** P23's last resort, for what no token stands for: a part of a Latin word, a sign. */
export function searchBySubstring(
  db: Database,
  query: string,
  { where, parameters }: RowFilter,
  limit: number,
): Match[] {
  const pattern = `%${query.trim().replace(/[\\%_]/g, '\\$&')}%`;
  const rows = db.sqlite
    .prepare(
      `SELECT m.seq FROM memories m WHERE ${where} AND (m.content LIKE @pattern ESCAPE '\\' OR m.key LIKE @pattern ESCAPE '\\')
       ORDER BY m.importance DESC, m.updated_at DESC LIMIT @limit`,
    )
    .all({ ...parameters, pattern, limit }) as { seq: number }[];
  return rows.map(({ seq }) => ({ seq, relevance: 1 }));
}

function matchExpression({ words, pairs, characters }: QueryTerms, scopes: readonly Scope[]): string {
  const any = [
    words.length > 0 ? `{key words} : (${words.map(quoted).join(' OR ')})` : '',
    pairs.length + characters.length > 0
      ? `pairs : (${[...pairs.map(quoted), ...characters.map((character) => `${quoted(character)} *`)].join(' OR ')})`
      : '',
  ]
    .filter((part) => part !== '')
    .join(' OR ');
  if (scopes.length > maxScopeTokens) return any;
  return `scope : (${scopes.map((scope) => quoted(scopeToken(scope))).join(' OR ')}) AND (${any})`;
}

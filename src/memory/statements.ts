/** Statements whose text depends on the question: prepared at the first use of each text. */
import type { Statement } from 'better-sqlite3';
import type { Database } from '../storage/database.js';

export type Prepare = (sql: string) => Statement;

/** Texts come from a few optional conditions; more than this would be a text with values in it. */
const maxStatements = 200;

export function createStatements({ sqlite }: Database): Prepare {
  const statements = new Map<string, Statement>();
  return (sql) => {
    const known = statements.get(sql);
    if (known) return known;
    if (statements.size >= maxStatements) statements.clear();
    const statement = sqlite.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
}

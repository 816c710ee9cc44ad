/** What recall is compared with: the plain ways of searching the same memories in SQLite. */
import BetterSqlite3 from 'better-sqlite3';

export interface Memory {
  key: string;
  content: string;
}

/** Best match first: keys, at most `limit`. */
export type Search = (query: string, limit: number) => string[] | Promise<string[]>;

const segmenter = new Intl.Segmenter('zh', { granularity: 'word' });

export function likeSearch(memories: readonly Memory[]): Search {
  const sqlite = new BetterSqlite3(':memory:');
  sqlite.exec('CREATE TABLE m (key TEXT, content TEXT)');
  const insert = sqlite.prepare('INSERT INTO m VALUES (?, ?)');
  for (const { key, content } of memories) insert.run(key, content);
  return (query, limit) => {
    const words = query.split(/[\s，。？！、,?!]+/).filter((word) => word !== '');
    if (words.length === 0) return [];
    const hits = words.map(() => "(key || ' ' || content LIKE ? ESCAPE '\\')").join(' + ');
    return sqlite
      .prepare(`SELECT key FROM (SELECT key, ${hits} AS hits FROM m) WHERE hits > 0 ORDER BY hits DESC LIMIT ${limit}`)
      .pluck()
      .all(words.map((word) => `%${word.replace(/[\\%_]/g, '\\$&')}%`)) as string[];
  };
}

/** The tokenizer cuts the text; the query is its words, joined by OR. */
export function unicodeSearch(memories: readonly Memory[]): Search {
  return ftsSearch(memories, 'unicode61', (text) => text, spacedWords);
}

/** Every three neighbouring characters of the query, joined by OR: a phrase of the whole question would find nothing. */
export function trigramSearch(memories: readonly Memory[]): Search {
  const triples = (query: string) =>
    spacedWords(query).flatMap((word) => {
      const characters = [...word];
      return characters.slice(2).map((_, index) => characters.slice(index, index + 3).join(''));
    });
  return ftsSearch(memories, 'trigram', (text) => text, triples);
}

export function intlSearch(memories: readonly Memory[]): Search {
  const words = (text: string) =>
    [...segmenter.segment(text)].filter((part) => part.isWordLike).map((part) => part.segment);
  return ftsSearch(memories, 'unicode61', (text) => words(text).join(' '), words);
}

function spacedWords(text: string): string[] {
  return text.match(/[\p{L}\p{N}]+/gu) ?? [];
}

function ftsSearch(
  memories: readonly Memory[],
  tokenizer: string,
  indexed: (text: string) => string,
  termsOf: (query: string) => string[],
): Search {
  const sqlite = new BetterSqlite3(':memory:');
  sqlite.exec(`CREATE VIRTUAL TABLE f USING fts5(key, content, tokenize = '${tokenizer}')`);
  const insert = sqlite.prepare('INSERT INTO f (rowid, key, content) VALUES (?, ?, ?)');
  memories.forEach(({ key, content }, index) => void insert.run(index + 1, indexed(key), indexed(content)));
  return (query, limit) => {
    const terms = [...new Set(termsOf(query))];
    if (terms.length === 0) return [];
    const match = terms.map((term) => `"${term.replaceAll('"', '""')}"`).join(' OR ');
    const rows = sqlite.prepare('SELECT rowid FROM f WHERE f MATCH ? ORDER BY rank LIMIT ?').pluck();
    return (rows.all(match, limit) as number[]).map((row) => memories[row - 1]!.key);
  };
}

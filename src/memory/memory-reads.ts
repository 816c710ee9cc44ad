/** Reading memories: by question, newest first, one by one. */
import type { MemoryEntry, ScoredMemory } from './memory-entry.js';
import { MemoryError } from './memory-error.js';
import { type MemoryFilter, rowFilter } from './memory-filter.js';
import { rank, relevances } from './memory-ranking.js';
import { createMemorySearch } from './memory-search.js';
import type { MemoryParts } from './memory-store.js';
import { entryOf, type MemoryChange, type MemoryRow } from './memory-table.js';
import type { MemoryWrites } from './memory-writes.js';
import { maxQueryLength, queryTerms } from './query-terms.js';
import type { Scope } from './scopes.js';

export interface RecallOptions extends MemoryFilter {
  /** 1 to 100, default 10. */
  limit?: number;
  /** Counts the answer as use, which ranks, and keeps `misc` entries. Only for answers that the model gets. */
  countUse?: boolean;
}

export interface MemoryReads {
  /** Best match first. Any text is a valid query; one without words or signs finds nothing. */
  recall(query: string, options: RecallOptions): Promise<ScoredMemory[]>;
  /** Newest change first. `cursor` is the `nextCursor` of the page before; throws `MemoryError` `memory_invalid` for another. */
  list(filter: MemoryFilter & { limit?: number; cursor?: string }): { items: MemoryEntry[]; nextCursor?: string };
  /** `reference` is an id or a key. Throws `memory_ambiguous`. */
  get(reference: string, scopes: readonly Scope[]): MemoryEntry | undefined;
  /** What shares most with the text, without waiting for the segmenter; order is rough. */
  similar(text: string, scopes: readonly Scope[], limit: number): MemoryEntry[];
  /** Oldest change first. Empty for an entry outside the scopes. */
  history(reference: string, scopes: readonly Scope[]): MemoryChange[];
  /** All scopes that hold anything: for an owner who asks for everything. */
  knownScopes(): Scope[];
}

/** Matches beyond the limit that importance, recency and use may bring up, and near-duplicates use up. */
const spareCandidates = 50;
const dayMs = 86_400_000;

export function createMemoryReads(
  { db, table, config, cutter, index, vectors, now }: MemoryParts,
  writes: Pick<MemoryWrites, 'markUsed'>,
): MemoryReads {
  const { sqlite } = db;
  const search = createMemorySearch(db);
  const filterOf = (filter: MemoryFilter) => rowFilter(filter, now(), now() - config.timelineDays * dayMs);

  async function find(query: string, filter: MemoryFilter, count: number): Promise<Map<number, number>> {
    const cut = (await cutter.cut([query], { wait: false }))?.texts[0] ?? cutter.cutPlainly(query);
    const terms = queryTerms(cut);
    await index.catchUp(filter.scopes);
    const rows = filterOf(filter);
    const byMeaning = (await vectors?.nearest(query, rows, count)) ?? [];
    const byWords = search.byWords(terms, filter.scopes, rows, count);
    // Runs are found by every pair of characters; only a word with spaces around it can hide what is asked for.
    if (byWords.length > 0 || cut.words.length === 0) return relevances(byWords, byMeaning);
    return relevances(search.bySubstring(query, rows, count), byMeaning);
  }

  return {
    async recall(query, { limit = 10, countUse = false, ...filter }) {
      const text = query.slice(0, maxQueryLength).trim();
      if (filter.scopes.length === 0 || text === '') return [];
      const size = clamp(limit, 100);
      const relevance = await find(text, filter, size + spareCandidates);
      // Asked again of the rows themselves: whatever found them, none of another scope leaves here.
      const visible = table.bySeqs([...relevance.keys()]).filter((row) => filter.scopes.includes(row.scope as Scope));
      const found = rank(visible, relevance, now(), size);
      if (countUse) writes.markUsed(found);
      return found;
    },
    list({ limit = 50, cursor, ...filter }) {
      const { where, parameters } = filterOf(filter);
      const after = cursor === undefined ? undefined : readCursor(cursor);
      const size = clamp(limit, 500);
      const rows = sqlite
        .prepare(
          `SELECT m.seq, m.updated_at AS updatedAt FROM memories m WHERE ${where}
           ${after ? 'AND (m.updated_at, m.seq) < (@at, @seq)' : ''} ORDER BY m.updated_at DESC, m.seq DESC LIMIT @size`,
        )
        .all({ ...parameters, ...after, size: size + 1 }) as { seq: number; updatedAt: number }[];
      const page = rows.slice(0, size);
      const bySeq = new Map(table.bySeqs(page.map((row) => row.seq)).map((row) => [row.seq, row]));
      const items = page.map((row) => entryOf(bySeq.get(row.seq)!));
      const last = page.at(-1);
      return rows.length > size && last ? { items, nextCursor: `${last.updatedAt}-${last.seq}` } : { items };
    },
    get(reference, scopes) {
      const row = table.find(reference, scopes);
      return row && isLive(row) ? entryOf(row) : undefined;
    },
    similar(text, scopes, limit) {
      const terms = queryTerms(cutter.cutPlainly(text.slice(0, maxQueryLength)));
      index.catchUpPlainly(scopes);
      const matches = search.byWords(terms, scopes, filterOf({ scopes }), limit);
      return table.bySeqs(matches.map((match) => match.seq)).map(entryOf);
    },
    history(reference, scopes) {
      const row = table.find(reference, scopes);
      return row ? table.changesOf(row.id) : [];
    },
    knownScopes: () => sqlite.prepare('SELECT DISTINCT scope FROM memories').pluck().all() as Scope[],
  };

  function isLive(row: MemoryRow): boolean {
    const hasExpired = row.expiresAt !== null && row.expiresAt <= now();
    return !hasExpired && (row.category !== 'timeline' || row.updatedAt >= now() - config.timelineDays * dayMs);
  }
}

function clamp(limit: number, max: number): number {
  return Math.max(1, Math.min(max, Math.floor(limit)));
}

function readCursor(cursor: string): { at: number; seq: number } {
  const [, at, seq] = /^(\d{1,16})-(\d{1,16})$/.exec(cursor) ?? [];
  if (at !== undefined && seq !== undefined) return { at: Number(at), seq: Number(seq) };
  throw new MemoryError('memory_invalid', `"${cursor}" is not a cursor of this list. Leave it out to start anew.`);
}

/** Reading memories: by question, newest first, one by one. */
import { asc, eq } from 'drizzle-orm';
import { memories, memoryChanges } from '../storage/schema.js';
import type { MemoryEntry, ScoredMemory } from './memory-entry.js';
import { MemoryError } from './memory-error.js';
import { type MemoryFilter, rowFilter } from './memory-filter.js';
import { rank, relevances } from './memory-ranking.js';
import { entryOf, findRow, type MemoryRow, rowsOf } from './memory-rows.js';
import { searchBySubstring, searchByWords } from './memory-search.js';
import type { MemoryParts } from './memory-store.js';
import type { MemoryWrites } from './memory-writes.js';
import { isEmpty, maxQueryLength, queryTerms } from './query-terms.js';
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
  history(reference: string, scopes: readonly Scope[]): (typeof memoryChanges.$inferSelect)[];
  /** All scopes that hold anything: for an owner who asks for everything. */
  knownScopes(): Scope[];
}

/** Matches that importance, recency and use may reorder. */
const candidateCount = 60;
const dayMs = 86_400_000;

export function createMemoryReads(
  { db, config, cutter, vectors, now }: MemoryParts,
  writes: Pick<MemoryWrites, 'markUsed'>,
): MemoryReads {
  const { sqlite, orm } = db;
  const filterOf = (filter: MemoryFilter) => rowFilter(filter, now(), now() - config.timelineDays * dayMs);

  async function find(query: string, filter: MemoryFilter): Promise<Map<number, number>> {
    const cut = await cutter.cut([query], { wait: false });
    const terms = queryTerms(cut?.texts[0] ?? cutter.cutPlainly(query));
    const rows = filterOf(filter);
    const byMeaning = (await vectors?.nearest(query, rows, candidateCount)) ?? [];
    const byWords = searchByWords(db, terms, filter.scopes, rows, candidateCount);
    if (byWords.length > 0 || isEmpty(terms)) return relevances(byWords, byMeaning);
    return relevances(searchBySubstring(db, query, rows, candidateCount), byMeaning);
  }

  return {
    async recall(query, { limit = 10, countUse = false, ...filter }) {
      const text = query.slice(0, maxQueryLength).trim();
      if (filter.scopes.length === 0 || text === '') return [];
      const relevance = await find(text, filter);
      // Asked again of the rows themselves: whatever found them, none of another scope leaves here.
      const visible = rowsOf(db, [...relevance.keys()]).filter((row) => filter.scopes.includes(row.scope as Scope));
      const found = rank(visible, relevance, now(), clamp(limit, 100));
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
      const bySeq = new Map(
        rowsOf(
          db,
          page.map((row) => row.seq),
        ).map((row) => [row.seq, row]),
      );
      const items = page.map((row) => entryOf(bySeq.get(row.seq)!));
      const last = page.at(-1);
      return rows.length > size && last ? { items, nextCursor: `${last.updatedAt}-${last.seq}` } : { items };
    },
    get(reference, scopes) {
      const row = findRow(db, reference, scopes);
      return row && isLive(row) ? entryOf(row) : undefined;
    },
    similar(text, scopes, limit) {
      const terms = queryTerms(cutter.cutPlainly(text.slice(0, maxQueryLength)));
      const matches = searchByWords(db, terms, scopes, filterOf({ scopes }), limit);
      return rowsOf(
        db,
        matches.map((match) => match.seq),
      ).map(entryOf);
    },
    history(reference, scopes) {
      const row = findRow(db, reference, scopes);
      if (!row) return [];
      return orm
        .select()
        .from(memoryChanges)
        .where(eq(memoryChanges.memoryId, row.id))
        .orderBy(asc(memoryChanges.seq))
        .all();
    },
    knownScopes: () =>
      orm
        .selectDistinct({ scope: memories.scope })
        .from(memories)
        .all()
        .map((row) => row.scope as Scope),
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

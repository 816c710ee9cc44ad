/**
 * Meaning beside words: a vector per memory, when an embedding model is configured. Distances are computed by sqlite-vec
 * where it is installed, else here. Vectors are made in the background; a memory without one is found by its words.
 */
import { createRequire } from 'node:module';
import type { Logger } from '../observability/log.js';
import type { Database } from '../storage/database.js';
import { type Background, createBackground } from './background.js';
import type { Timers } from './timers.js';

export interface Embedder {
  /** Recorded with each vector; vectors of another model are made anew. */
  model: string;
  /** One vector per text, all of one length. Throws when the model cannot be reached. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]>;
}

export interface MemoryVectors {
  /** Sequence numbers of the nearest memories that `filter` lets pass, nearest first; empty when the model does not answer in time. */
  nearest(text: string, filter: RowFilter, limit: number): Promise<number[]>;
  background: Background;
}

/** SQL over `memories m`, and its named parameters. */
export interface RowFilter {
  where: string;
  parameters: Record<string, string | number>;
}

const batchSize = 32;
/** A question does not wait longer for its vector. */
const queryTimeoutMs = 2000;
const batchTimeoutMs = 60_000;
/** Farther ones have nothing to do with the question. Cosine distance, 0 to 2. */
const maxDistance = 0.75;

interface Row {
  seq: number;
  key: string;
  content: string;
}

export function createMemoryVectors(
  db: Database,
  embedder: Embedder,
  deps: { timers: Timers; log: Logger },
): MemoryVectors {
  const { sqlite } = db;
  const { model } = embedder;
  let distances: 'sql' | 'here' | undefined;
  const closing = new AbortController();

  const missing = sqlite.prepare<[string, string, number], Row>(
    'SELECT seq, key, content FROM memories WHERE embedded_by < ? OR embedded_by > ? LIMIT ?',
  );
  const unchanged = sqlite.prepare('SELECT 1 FROM memories WHERE seq = ? AND key = ? AND content = ?');
  const put = sqlite.prepare(
    'INSERT INTO memory_vectors (seq, model, vector) VALUES (?, ?, ?) ON CONFLICT (seq) DO UPDATE SET model = excluded.model, vector = excluded.vector',
  );
  const setDone = sqlite.prepare('UPDATE memories SET embedded_by = ? WHERE seq = ?');

  async function slice(isClosed: () => boolean): Promise<boolean> {
    const rows = missing.all(model, model, batchSize);
    if (rows.length === 0) return false;
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(batchTimeoutMs)]);
    const vectors = await embedder.embed(
      rows.map((row) => `${row.key}: ${row.content}`),
      signal,
    );
    if (isClosed()) return false;
    db.transaction(() => {
      rows.forEach((row, index) => {
        const vector = vectors[index];
        if (!vector || unchanged.get(row.seq, row.key, row.content) === undefined) return;
        put.run(row.seq, model, bytesOf(vector));
        setDone.run(model, row.seq);
      });
    });
    return vectors.length >= rows.length;
  }

  const background = createBackground({ slice, ...deps });

  return {
    background: {
      ...background,
      async close() {
        closing.abort();
        await background.close();
      },
    },
    async nearest(text, { where, parameters }, limit) {
      distances ??= loadExtension(db, deps.log);
      let vector: readonly number[] | undefined;
      try {
        [vector] = await embedder.embed([text], AbortSignal.any([closing.signal, AbortSignal.timeout(queryTimeoutMs)]));
      } catch (error) {
        deps.log.warn({ err: error, model }, 'embedding model did not answer, words alone decide');
      }
      if (!vector) return [];
      const query = bytesOf(vector);
      const from = `FROM memory_vectors v JOIN memories m ON m.seq = v.seq WHERE v.model = @model AND length(v.vector) = @bytes AND ${where}`;
      const known = { ...parameters, model, bytes: query.length };
      const rows =
        distances === 'sql'
          ? (sqlite
              .prepare(
                `SELECT m.seq, vec_distance_cosine(v.vector, @query) AS distance ${from} ORDER BY distance LIMIT @limit`,
              )
              .all({ ...known, query, limit }) as { seq: number; distance: number }[])
          : nearestOf(
              sqlite.prepare(`SELECT m.seq, v.vector ${from}`).iterate(known) as Iterable<StoredVector>,
              vector,
              limit,
            );
      return rows.filter((row) => row.distance <= maxDistance).map((row) => row.seq);
    },
  };
}

interface StoredVector {
  seq: number;
  vector: Buffer;
}

function nearestOf(rows: Iterable<StoredVector>, query: readonly number[], limit: number) {
  const queryLength = Math.hypot(...query);
  const found: { seq: number; distance: number }[] = [];
  for (const { seq, vector } of rows) {
    let product = 0;
    let square = 0;
    for (let index = 0; index < query.length; index++) {
      const value = vector.readFloatLE(4 * index);
      product += value * query[index]!;
      square += value * value;
    }
    found.push({ seq, distance: 1 - product / (Math.sqrt(square) * queryLength || 1) });
  }
  return found.sort((a, b) => a.distance - b.distance).slice(0, limit);
}

function bytesOf(vector: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * vector.length);
  vector.forEach((value, index) => void bytes.writeFloatLE(value, 4 * index));
  return bytes;
}

/** Loaded at the first question, because only some installations have an embedding model. */
function loadExtension({ sqlite }: Database, log: Logger): 'sql' | 'here' {
  try {
    const { load } = createRequire(import.meta.url)('sqlite-vec') as { load(db: Database['sqlite']): void };
    load(sqlite);
    return 'sql';
  } catch (error) {
    log.info({ err: error }, 'sqlite-vec is not available, vectors are compared without it');
    return 'here';
  }
}

/** The memory as the model's tools know it: an actor instead of scopes. */

import type { Identities } from './identities.js';
import type { MemoryEntry, ScoredMemory, Tier } from './memory-entry.js';
import { MemoryError } from './memory-error.js';
import type { MemoryStore } from './memory-store.js';
import type { Writer } from './memory-writes.js';
import { type ActorScopes, type MemoryActor, scopesOf } from './scopes.js';

export type ToolActor = MemoryActor & { runId: string };

export interface ToolMemoryRange {
  limit: number;
  /** Of the last change, ms since the epoch, both inclusive. */
  since?: number;
  until?: number;
}

/** Throws what `refuse` makes of a refusal, for what the model can correct. */
export interface ToolMemory {
  /** Files the fact with the person in a direct chat, with the group elsewhere. The same key overwrites. */
  store(entry: { key: string; content: string; importance?: number; tier?: Tier }, actor: ToolActor): Promise<void>;
  /** Knowledge and timeline, best match first. */
  recall(query: string, range: ToolMemoryRange, actor: ToolActor): Promise<ScoredMemory[]>;
  /** Summaries of past talk only: best match first, or the newest when there is nothing to search for. */
  timeline(query: string, range: ToolMemoryRange, actor: ToolActor): Promise<MemoryEntry[]>;
  /** `reference` is a key or an id. */
  forget(reference: string, actor: ToolActor): Promise<void>;
}

export function toolMemory(
  store: Pick<MemoryStore, 'store' | 'recall' | 'list' | 'forget' | 'get'>,
  identities: Identities,
  refuse: (message: string, cause: Error) => Error,
): ToolMemory {
  const writerOf = (actor: ToolActor, { writable }: ActorScopes): Writer => ({
    by: `${actor.channel}:${actor.userId}`,
    sessionId: actor.sessionId,
    runId: actor.runId,
    writable,
  });
  const guarded = async <T>(actor: ToolActor, work: (scopes: ActorScopes) => T | Promise<T>): Promise<T> => {
    try {
      return await work(scopesOf(actor, identities));
    } catch (error) {
      throw error instanceof MemoryError ? refuse(error.message, error) : error;
    }
  };
  return {
    store: (entry, actor) =>
      guarded(actor, (scopes) => {
        // The person may have told it on a linked account: the fact stays one.
        const accounts = scopes.writable.filter(
          (scope) => scope.startsWith('user:') && scopes.home.startsWith('user:'),
        );
        const known = accounts.find((scope) => store.get(entry.key, [scope])?.key === entry.key);
        store.store({ ...entry, scope: known ?? scopes.home }, writerOf(actor, scopes));
      }),
    recall: (query, range, actor) =>
      guarded(actor, ({ readable }) => store.recall(query, { ...range, scopes: readable, countUse: true })),
    timeline: (query, range, actor) =>
      guarded(actor, ({ readable }) => {
        const filter = { ...range, scopes: readable, category: 'timeline' } as const;
        return query.trim() === '' ? store.list(filter).items : store.recall(query, { ...filter, countUse: true });
      }),
    forget: (reference, actor) => guarded(actor, (scopes) => store.forget(reference, writerOf(actor, scopes))),
  };
}

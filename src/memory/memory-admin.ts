/** The owner's view of the memory: all scopes, or one that is named. */
import type { MemoryAdmin } from '../protocol/memory-admin.js';
import { withoutUndefined } from '../protocol/without-undefined.js';
import { MemoryError } from './memory-error.js';
import type { MemoryStore } from './memory-store.js';
import type { Writer } from './memory-writes.js';
import { parseScope, type Scope } from './scopes.js';

/** `home`: where a fact without a scope goes. */
export function createMemoryAdmin(memory: MemoryStore, home: Scope): MemoryAdmin {
  const scopesFor = (scope: string | undefined): Scope[] =>
    scope === undefined ? [...new Set([home, ...memory.knownScopes()])] : [parseScope(scope)];
  const writerFor = (scopes: readonly Scope[]): Writer => ({ by: 'http:owner', writable: scopes });
  return {
    async find({ query, scope, limit, cursor, ...filter }) {
      const options = withoutUndefined({ ...filter, scopes: scopesFor(scope), limit, cursor });
      return query === undefined ? memory.list(options) : { items: await memory.recall(query, options) };
    },
    add({ scope, ...fields }) {
      const target = scope === undefined ? home : parseScope(scope);
      const { entry, outcome } = memory.store({ ...withoutUndefined(fields), scope: target }, writerFor([target]));
      return { entry, isNew: outcome === 'created' };
    },
    get(reference, scope) {
      const entry = memory.get(reference, scopesFor(scope));
      if (entry) return entry;
      throw new MemoryError('memory_not_found', `There is no memory "${reference}".`);
    },
    history: (reference, scope) => memory.history(reference, scopesFor(scope)),
    edit: (reference, change, scope) => memory.edit(reference, withoutUndefined(change), writerFor(scopesFor(scope))),
    forget(reference, scope) {
      memory.forget(reference, writerFor(scopesFor(scope)));
    },
    exportAll: (scope) => memory.exportMemories(scopesFor(scope)),
    importAll(file, scope) {
      const scopes = scope === undefined ? scopesIn(file) : [parseScope(scope)];
      const options = scope === undefined ? {} : { scope: parseScope(scope) };
      return memory.importMemories(file, writerFor(scopes), options);
    },
  };
}

/** The owner may write wherever a file says; what is no scope is refused entry by entry. */
function scopesIn(file: unknown): Scope[] {
  const entries = (file as { memories?: unknown } | null)?.memories;
  if (!Array.isArray(entries)) return [];
  const scopes = entries.map((entry: { scope?: unknown } | null) => entry?.scope);
  return [...new Set(scopes.filter((scope) => typeof scope === 'string'))] as Scope[];
}

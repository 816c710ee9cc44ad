/** Sessions in storage: resolve, list, create, rename, archive, soft delete. Knows nothing of running turns. */
import { and, desc, eq, isNotNull, isNull, lt, or, sql } from 'drizzle-orm';
import type { SessionFilter } from '../protocol/control.js';
import type { Usage } from '../protocol/events.js';
import { type ChatScope, chatScope, type DialogAddress, type SessionId, sessionId } from '../protocol/ids.js';
import type { Database } from '../storage/database.js';
import { currentDialogs, sessions } from '../storage/schema.js';

export type SessionRow = typeof sessions.$inferSelect & { id: SessionId };

export type SessionListFilter = Omit<SessionFilter, 'sameScopeAs'> & { limit: number; scope: string | undefined };

export interface SessionStore {
  find(id: string): SessionRow | undefined;
  findByKey(key: number): SessionRow | undefined;
  /** Makes it the current dialog of its chat, too. */
  create(address: DialogAddress, title: string, titleSource: SessionRow['titleSource'], scope?: string): SessionRow;
  /** `scope`: a chat's, or one member's in a group. Current dialog, else the most recently active one that is neither archived nor deleted. */
  resolve(scope: string): SessionRow | undefined;
  /** Keys of all dialogs that share this one's scope, not the deleted ones. */
  keysOf(id: SessionId): number[];
  currentOf(scope: string): string | undefined;
  setCurrent(row: SessionRow): void;
  /** Gives a deleted dialog the id `…~<key>`, so that a new one can bear its name. */
  displace(row: SessionRow): void;
  clearCurrent(row: SessionRow): void;
  update(key: number, change: Partial<typeof sessions.$inferInsert>): void;
  /** Adds a finished turn to the counts. Call inside the transaction that ends the run. */
  addTurn(key: number, turn: { turn: number; messages: number; usage: Usage; at: number }): void;
  /** Newest first; not the deleted ones. `limit` + 1 rows tell whether there is a next page. */
  list(filter: SessionListFilter): SessionRow[];
}

export function createSessionStore(db: Database, options: { now: () => number }): SessionStore {
  const { orm } = db;
  const byId = orm
    .select()
    .from(sessions)
    .where(eq(sessions.id, sql.placeholder('id')))
    .prepare();
  const current = orm
    .select()
    .from(currentDialogs)
    .where(eq(currentDialogs.scope, sql.placeholder('scope')))
    .prepare();
  const endTurn = orm
    .update(sessions)
    .set({
      turnCount: sql`${sql.placeholder('turn')}`,
      messageCount: sql`${sessions.messageCount} + ${sql.placeholder('messages')}`,
      inputTokens: sql`${sessions.inputTokens} + ${sql.placeholder('inputTokens')}`,
      outputTokens: sql`${sessions.outputTokens} + ${sql.placeholder('outputTokens')}`,
      cachedInputTokens: sql`${sessions.cachedInputTokens} + ${sql.placeholder('cachedInputTokens')}`,
      reasoningTokens: sql`${sessions.reasoningTokens} + ${sql.placeholder('reasoningTokens')}`,
      lastActiveAt: sql`${sql.placeholder('at')}`,
    })
    .where(eq(sessions.key, sql.placeholder('key')))
    .prepare();

  const find = (id: string) => byId.get({ id }) as SessionRow | undefined;
  const store: SessionStore = {
    find,
    findByKey: (key) => orm.select().from(sessions).where(eq(sessions.key, key)).get() as SessionRow | undefined,
    create(address, title, titleSource, scope = chatScope(address)) {
      const now = options.now();
      return db.transaction(() => {
        const row = orm
          .insert(sessions)
          .values({
            id: sessionId(address),
            scope,
            title,
            titleSource,
            createdAt: now,
            lastActiveAt: now,
          })
          .returning()
          .get() as SessionRow;
        store.setCurrent(row);
        return row;
      });
    },
    resolve(scope) {
      const id = store.currentOf(scope);
      const row = id === undefined ? undefined : find(id);
      if (row && row.archivedAt === null && row.deletedAt === null) return row;
      return orm
        .select()
        .from(sessions)
        .where(and(eq(sessions.scope, scope), isNull(sessions.archivedAt), isNull(sessions.deletedAt)))
        .orderBy(desc(sessions.lastActiveAt), desc(sessions.key))
        .limit(1)
        .get() as SessionRow | undefined;
    },
    keysOf: (id) =>
      orm
        .select({ key: sessions.key })
        .from(sessions)
        .where(and(eq(sessions.scope, find(id)?.scope ?? ''), isNull(sessions.deletedAt)))
        .all()
        .map((row) => row.key),
    currentOf: (scope) => current.get({ scope })?.sessionId,
    setCurrent(row) {
      orm
        .insert(currentDialogs)
        .values({ scope: row.scope, sessionId: row.id })
        .onConflictDoUpdate({ target: currentDialogs.scope, set: { sessionId: row.id } })
        .run();
    },
    displace(row) {
      orm
        .update(sessions)
        .set({ id: `${row.id}~${row.key}` })
        .where(eq(sessions.key, row.key))
        .run();
    },
    clearCurrent(row) {
      orm
        .delete(currentDialogs)
        .where(and(eq(currentDialogs.scope, row.scope), eq(currentDialogs.sessionId, row.id)))
        .run();
    },
    update(key, change) {
      orm.update(sessions).set(change).where(eq(sessions.key, key)).run();
    },
    addTurn(key, { turn, messages, usage, at }) {
      endTurn.run({
        key,
        turn,
        messages,
        at,
        inputTokens: usage.inputTokens ?? 0,
        outputTokens: usage.outputTokens ?? 0,
        cachedInputTokens: usage.cachedInputTokens ?? 0,
        reasoningTokens: usage.reasoningTokens ?? 0,
      });
    },
    list(filter) {
      const before = filter.cursor === undefined ? undefined : readCursor(filter.cursor);
      return orm
        .select()
        .from(sessions)
        .where(
          and(
            isNull(sessions.deletedAt),
            filter.archived ? isNotNull(sessions.archivedAt) : isNull(sessions.archivedAt),
            scopeCondition(filter),
            before &&
              or(
                lt(sessions.lastActiveAt, before.at),
                and(eq(sessions.lastActiveAt, before.at), lt(sessions.key, before.key)),
              ),
          ),
        )
        .orderBy(desc(sessions.lastActiveAt), desc(sessions.key))
        .limit(filter.limit + 1)
        .all() as SessionRow[];
    },
  };
  return store;
}

/** In a group where everybody has a dialog of their own. */
export function memberScope(chat: ChatScope, userId: string): string {
  return `${chat}/${userId}`;
}

export function cursorAfter(row: SessionRow): string {
  return `${row.lastActiveAt}.${row.key}`;
}

function readCursor(text: string): { at: number; key: number } | undefined {
  const match = /^(\d{1,15})\.(\d{1,15})$/.exec(text);
  return match ? { at: Number(match[1]), key: Number(match[2]) } : undefined;
}

function scopeCondition({ channel, chatId, scope }: SessionListFilter) {
  if (scope !== undefined) return eq(sessions.scope, scope);
  if (channel === undefined) return undefined;
  if (chatId !== undefined) {
    const members = memberScope(chatScope({ channel, chatId }), '');
    return or(
      eq(sessions.scope, chatScope({ channel, chatId })),
      sql`substr(${sessions.scope}, 1, ${members.length}) = ${members}`,
    );
  }
  const prefix = chatScope({ channel, chatId: '' });
  return sql`substr(${sessions.scope}, 1, ${prefix.length}) = ${prefix}`;
}

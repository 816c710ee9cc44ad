/** Runs in storage: which session, which attempt, how it ended, what it used. */
import { eq, sql } from 'drizzle-orm';
import type { StopReason, Usage } from '../protocol/events.js';
import type { Database } from '../storage/database.js';
import { runs } from '../storage/schema.js';

export type RunRow = typeof runs.$inferSelect;

export interface RunStore {
  find(id: string): RunRow | undefined;
  start(run: { id: string; sessionKey: number; turn: number; startEventId: number; model: string; at: number }): void;
  setAttempt(id: string, attempt: number): void;
  end(id: string, end: { stopReason: StopReason; usage: Usage; at: number }): void;
}

export function createRunStore({ orm }: Database): RunStore {
  const insert = orm
    .insert(runs)
    .values({
      id: sql.placeholder('id'),
      sessionKey: sql.placeholder('sessionKey'),
      turn: sql.placeholder('turn'),
      startEventId: sql.placeholder('startEventId'),
      attempt: 1,
      model: sql.placeholder('model'),
      startedAt: sql.placeholder('at'),
    })
    .prepare();
  const finish = orm
    .update(runs)
    .set({
      stopReason: sql`${sql.placeholder('stopReason')}`,
      inputTokens: sql`${sql.placeholder('inputTokens')}`,
      outputTokens: sql`${sql.placeholder('outputTokens')}`,
      cachedInputTokens: sql`${sql.placeholder('cachedInputTokens')}`,
      reasoningTokens: sql`${sql.placeholder('reasoningTokens')}`,
      endedAt: sql`${sql.placeholder('at')}`,
    })
    .where(eq(runs.id, sql.placeholder('id')))
    .prepare();
  const byId = orm
    .select()
    .from(runs)
    .where(eq(runs.id, sql.placeholder('id')))
    .prepare();

  return {
    find: (id) => byId.get({ id }),
    start(run) {
      insert.run(run);
    },
    setAttempt(id, attempt) {
      orm.update(runs).set({ attempt }).where(eq(runs.id, id)).run();
    },
    end(id, { stopReason, usage, at }) {
      finish.run({
        id,
        stopReason,
        at,
        inputTokens: usage.inputTokens ?? null,
        outputTokens: usage.outputTokens ?? null,
        cachedInputTokens: usage.cachedInputTokens ?? null,
        reasoningTokens: usage.reasoningTokens ?? null,
      });
    },
  };
}

/**
 * Durable outbound queue. A row is made in the transaction that ends a run and is done only when
 * the platform confirmed. Order is kept per chat by whoever sends; the queue does not route.
 */
import { and, eq, inArray, isNotNull, lt, sql } from 'drizzle-orm';
import type { OutboundMessage } from '../protocol/messages.js';
import type { Database } from '../storage/database.js';
import { outbound } from '../storage/schema.js';

export interface QueuedAnswer {
  seq: number;
  message: OutboundMessage;
  /** True when the process ended between handing it to the platform and the confirmation. */
  perhapsDelivered: boolean;
}

export interface OutboundQueue {
  /** Call inside the transaction that ends the run; `announce` after its commit. */
  put(message: OutboundMessage): QueuedAnswer;
  announce(answer: QueuedAnswer): void;
  onAnswer(listener: (answer: QueuedAnswer) => void): void;
  /** What is not done, oldest first. */
  open(): QueuedAnswer[];
  markSending(seq: number): void;
  markSent(seq: number, platformId: string | undefined): void;
  /** Given up: a permanent error. */
  markFailed(seq: number, reason: string): void;
  /** Tried and not delivered; it stays queued. */
  markRetry(seq: number, reason: string): void;
  waitingCount(): number;
  /** Forgets rows that ended before `before`; at most 500 a call. Returns how many. */
  prune(before: number): number;
}

export function createOutboundQueue(db: Database, options: { now: () => number }): OutboundQueue {
  const { orm } = db;
  let listener: ((answer: QueuedAnswer) => void) | undefined;
  let waiting = 0;

  const insert = orm
    .insert(outbound)
    .values({
      id: sql.placeholder('id'),
      channel: sql.placeholder('channel'),
      chatId: sql.placeholder('chatId'),
      state: 'queued',
      payload: sql.placeholder('payload'),
      createdAt: sql.placeholder('createdAt'),
    })
    .prepare();
  const change = orm
    .update(outbound)
    .set({
      state: sql`${sql.placeholder('state')}`,
      attempts: sql`${outbound.attempts} + ${sql.placeholder('attempts')}`,
      lastError: sql`${sql.placeholder('lastError')}`,
      platformId: sql`${sql.placeholder('platformId')}`,
      endedAt: sql`${sql.placeholder('endedAt')}`,
    })
    .where(eq(outbound.seq, sql.placeholder('seq')))
    .prepare();
  const unchanged = { attempts: 0, lastError: null, platformId: null, endedAt: null };

  return {
    put(message) {
      const result = insert.run({
        id: message.id,
        channel: message.channel,
        chatId: message.chatId,
        payload: JSON.stringify(message),
        createdAt: options.now(),
      });
      return { seq: Number(result.lastInsertRowid), message, perhapsDelivered: false };
    },
    announce(answer) {
      waiting += 1;
      listener?.(answer);
    },
    onAnswer(next) {
      listener = next;
    },
    open() {
      const rows = orm
        .select()
        .from(outbound)
        .where(inArray(outbound.state, ['queued', 'sending']))
        .orderBy(outbound.seq)
        .all();
      waiting = rows.length;
      return rows.map((row) => ({
        seq: row.seq,
        message: JSON.parse(row.payload),
        perhapsDelivered: row.state === 'sending',
      }));
    },
    markSending(seq) {
      change.run({ ...unchanged, seq, state: 'sending', attempts: 1 });
    },
    markSent(seq, platformId) {
      waiting -= 1;
      change.run({ ...unchanged, seq, state: 'sent', platformId: platformId ?? null, endedAt: options.now() });
    },
    markFailed(seq, reason) {
      waiting -= 1;
      change.run({ ...unchanged, seq, state: 'failed', lastError: reason, endedAt: options.now() });
    },
    markRetry(seq, reason) {
      change.run({ ...unchanged, seq, state: 'queued', lastError: reason });
    },
    waitingCount: () => waiting,
    prune(before) {
      const old = orm
        .select({ seq: outbound.seq })
        .from(outbound)
        .where(and(isNotNull(outbound.endedAt), lt(outbound.endedAt, before)))
        .limit(500)
        .all();
      if (old.length > 0)
        orm
          .delete(outbound)
          .where(
            inArray(
              outbound.seq,
              old.map((row) => row.seq),
            ),
          )
          .run();
      return old.length;
    },
  };
}

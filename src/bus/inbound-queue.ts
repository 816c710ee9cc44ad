/**
 * Durable inbound queue. A message is accepted when `put` returns; it is done only in the
 * transaction that ends its run. The queue does not route: who listens decides what to do.
 */
import { and, eq, inArray, lt, ne, sql } from 'drizzle-orm';
import { UserError } from '../protocol/errors.js';
import { chatScope, sessionId } from '../protocol/ids.js';
import type { InboundMessage } from '../protocol/messages.js';
import type { Database } from '../storage/database.js';
import { inbound } from '../storage/schema.js';

export interface QueuedMessage {
  seq: number;
  /** Messages of one lane are handled in order: the chat, or the dialog where the message names one. */
  lane: string;
  message: InboundMessage;
  /** The unfinished run that had taken it when the process ended. */
  runId?: string;
}

export interface InboundQueue {
  /**
   * Commits one message and tells the listener. Throws `UserError` `queue_full` (the lane holds `maxPerLane`),
   * `message_id_reused` (same id, other text), `StorageError` when it could not be stored.
   */
  put(message: InboundMessage): { duplicate: boolean };
  /** Called after each commit, in order. One listener: the session manager. */
  onMessage(listener: (queued: QueuedMessage) => void): void;
  /** What is not done, oldest first. */
  open(): QueuedMessage[];
  /** Marks messages as taken by a run. Call inside the transaction that starts it. */
  take(seqs: readonly number[], runId: string): void;
  /** Marks messages as done. Call inside the transaction that ends their run or drops them; `release` after its commit. */
  finish(seqs: readonly number[], runId: string): void;
  /** Makes room in the lane again. */
  release(seqs: readonly number[]): void;
  /** The run that took a message, if any, and whether it is done. */
  find(key: MessageKey): { seq: number; runId: string | null; isDone: boolean } | undefined;
  waitingCount(): number;
  /** Forgets done messages received before `before`; at most 500 a call. Returns how many. */
  prune(before: number): number;
}

export type MessageKey = Pick<InboundMessage, 'channel' | 'chatId' | 'dialogId' | 'messageId'>;

export function laneOf(message: Pick<InboundMessage, 'channel' | 'chatId' | 'dialogId'>): string {
  const { channel, chatId, dialogId } = message;
  return dialogId === undefined ? chatScope({ channel, chatId }) : sessionId({ channel, chatId, dialogId });
}

export function createInboundQueue(db: Database, options: { maxPerLane: number; now: () => number }): InboundQueue {
  const { orm } = db;
  const waiting = new Map<string, number>();
  let waitingTotal = 0;
  let listener: ((queued: QueuedMessage) => void) | undefined;

  const insert = orm
    .insert(inbound)
    .values({
      channel: sql.placeholder('channel'),
      chatId: sql.placeholder('chatId'),
      dialogId: sql.placeholder('dialogId'),
      messageId: sql.placeholder('messageId'),
      lane: sql.placeholder('lane'),
      state: 'queued',
      payload: sql.placeholder('payload'),
      receivedAt: sql.placeholder('receivedAt'),
    })
    .onConflictDoNothing()
    .prepare();
  const byKey = orm
    .select({ seq: inbound.seq, runId: inbound.runId, state: inbound.state, payload: inbound.payload })
    .from(inbound)
    .where(
      and(
        eq(inbound.channel, sql.placeholder('channel')),
        eq(inbound.chatId, sql.placeholder('chatId')),
        eq(inbound.dialogId, sql.placeholder('dialogId')),
        eq(inbound.messageId, sql.placeholder('messageId')),
      ),
    )
    .prepare();
  const markTaken = orm
    .update(inbound)
    .set({ state: 'running', runId: sql`${sql.placeholder('runId')}` })
    .where(eq(inbound.seq, sql.placeholder('seq')))
    .prepare();
  const markDone = orm
    .update(inbound)
    .set({ state: 'done', runId: sql`${sql.placeholder('runId')}` })
    .where(eq(inbound.seq, sql.placeholder('seq')))
    .prepare();

  const count = (lane: string, change: number) => {
    const next = (waiting.get(lane) ?? 0) + change;
    if (next > 0) waiting.set(lane, next);
    else waiting.delete(lane);
    waitingTotal += change;
  };
  const keyOf = (key: MessageKey) => ({
    channel: key.channel,
    chatId: key.chatId,
    dialogId: key.dialogId ?? '',
    messageId: key.messageId,
  });
  const laneBySeq = new Map<number, string>();

  return {
    put(message) {
      const lane = laneOf(message);
      const key = keyOf(message);
      const isFull = (waiting.get(lane) ?? 0) >= options.maxPerLane;
      const result = db.transaction(() =>
        isFull ? undefined : insert.run({ ...key, lane, payload: JSON.stringify(message), receivedAt: options.now() }),
      );
      if (!result || result.changes === 0) {
        const known = byKey.get(key);
        if (known) return duplicateOf(message, known.payload);
        throw new UserError(
          'queue_full',
          `${options.maxPerLane} messages wait in this chat already; this one was not taken. Send it again when the bot has caught up, or /stop.`,
          { status: 429 },
        );
      }
      const seq = Number(result.lastInsertRowid);
      laneBySeq.set(seq, lane);
      count(lane, 1);
      listener?.({ seq, lane, message });
      return { duplicate: false };
    },
    onMessage(next) {
      listener = next;
    },
    open() {
      const rows = orm.select().from(inbound).where(ne(inbound.state, 'done')).orderBy(inbound.seq).all();
      waiting.clear();
      laneBySeq.clear();
      waitingTotal = 0;
      return rows.map((row) => {
        laneBySeq.set(row.seq, row.lane);
        count(row.lane, 1);
        const queued: QueuedMessage = { seq: row.seq, lane: row.lane, message: JSON.parse(row.payload) };
        if (row.runId) queued.runId = row.runId;
        return queued;
      });
    },
    take(seqs, runId) {
      for (const seq of seqs) markTaken.run({ seq, runId });
    },
    finish(seqs, runId) {
      for (const seq of seqs) markDone.run({ seq, runId });
    },
    release(seqs) {
      for (const seq of seqs) {
        const lane = laneBySeq.get(seq);
        if (lane !== undefined) count(lane, -1);
        laneBySeq.delete(seq);
      }
    },
    find(key) {
      const row = byKey.get(keyOf(key));
      return row && { seq: row.seq, runId: row.runId, isDone: row.state === 'done' };
    },
    waitingCount: () => waitingTotal,
    prune(before) {
      const old = orm
        .select({ seq: inbound.seq })
        .from(inbound)
        .where(and(eq(inbound.state, 'done'), lt(inbound.receivedAt, before)))
        .limit(500)
        .all();
      if (old.length > 0)
        orm
          .delete(inbound)
          .where(
            inArray(
              inbound.seq,
              old.map((row) => row.seq),
            ),
          )
          .run();
      return old.length;
    },
  };
}

function duplicateOf(message: InboundMessage, storedPayload: string): { duplicate: true } {
  const stored = JSON.parse(storedPayload) as InboundMessage;
  if (stored.text !== message.text) {
    throw new UserError(
      'message_id_reused',
      `Message id "${message.messageId}" was used in this dialog for another text. Give every message its own id.`,
      { status: 409 },
    );
  }
  return { duplicate: true };
}

/** Tables as drizzle sees them; the migrations make them. A test compares the two. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const meta = sqliteTable('meta', { key: text().primaryKey(), value: text().notNull() });

export const inbound = sqliteTable('inbound', {
  seq: integer().primaryKey({ autoIncrement: true }),
  channel: text().notNull(),
  chatId: text('chat_id').notNull(),
  /** Empty when the message names no dialog. */
  dialogId: text('dialog_id').notNull(),
  messageId: text('message_id').notNull(),
  lane: text().notNull(),
  state: text({ enum: ['queued', 'running', 'done'] }).notNull(),
  runId: text('run_id'),
  /** JSON of the InboundMessage. */
  payload: text().notNull(),
  receivedAt: integer('received_at').notNull(),
});

export const outbound = sqliteTable('outbound', {
  seq: integer().primaryKey({ autoIncrement: true }),
  id: text().notNull(),
  channel: text().notNull(),
  chatId: text('chat_id').notNull(),
  /** `sending`: handed to a platform that cannot drop a second send; after a crash it perhaps arrived. */
  state: text({ enum: ['queued', 'sending', 'sent', 'failed'] }).notNull(),
  /** JSON of the OutboundMessage. */
  payload: text().notNull(),
  attempts: integer().notNull().default(0),
  lastError: text('last_error'),
  platformId: text('platform_id'),
  createdAt: integer('created_at').notNull(),
  endedAt: integer('ended_at'),
});

export const sessions = sqliteTable('sessions', {
  key: integer().primaryKey(),
  id: text().notNull(),
  scope: text().notNull(),
  title: text().notNull(),
  titleSource: text('title_source', { enum: ['default', 'auto', 'user'] }).notNull(),
  parentId: text('parent_id'),
  /** Fixed at the first turn, so that every later request starts with the same bytes. */
  systemPrompt: text('system_prompt'),
  lastEventId: integer('last_event_id').notNull().default(0),
  turnCount: integer('turn_count').notNull().default(0),
  messageCount: integer('message_count').notNull().default(0),
  inputTokens: integer('input_tokens').notNull().default(0),
  outputTokens: integer('output_tokens').notNull().default(0),
  cachedInputTokens: integer('cached_input_tokens').notNull().default(0),
  reasoningTokens: integer('reasoning_tokens').notNull().default(0),
  createdAt: integer('created_at').notNull(),
  lastActiveAt: integer('last_active_at').notNull(),
  archivedAt: integer('archived_at'),
  deletedAt: integer('deleted_at'),
});

export const currentDialogs = sqliteTable('current_dialogs', {
  scope: text().primaryKey(),
  sessionId: text('session_id').notNull(),
});

export const events = sqliteTable('events', {
  key: integer().primaryKey(),
  sessionKey: integer('session_key').notNull(),
  id: integer().notNull(),
  runId: text('run_id').notNull(),
  turn: integer().notNull(),
  type: text().notNull(),
  audience: text({ enum: ['model', 'people', 'both', 'nobody'] }).notNull(),
  /** JSON of the EventBody without its type. */
  body: text().notNull(),
  at: integer().notNull(),
});

export const runs = sqliteTable('runs', {
  id: text().primaryKey(),
  sessionKey: integer('session_key').notNull(),
  turn: integer().notNull(),
  startEventId: integer('start_event_id').notNull(),
  attempt: integer().notNull(),
  model: text().notNull(),
  stopReason: text('stop_reason'),
  inputTokens: integer('input_tokens'),
  outputTokens: integer('output_tokens'),
  cachedInputTokens: integer('cached_input_tokens'),
  reasoningTokens: integer('reasoning_tokens'),
  startedAt: integer('started_at').notNull(),
  endedAt: integer('ended_at'),
});

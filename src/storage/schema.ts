/** Tables as drizzle sees them; the migrations make them. A test compares the two. */
import { blob, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';

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

export const memories = sqliteTable('memories', {
  /** Never used twice, so that a number found before a wait cannot come to mean another memory. */
  seq: integer().primaryKey({ autoIncrement: true }),
  id: text().notNull(),
  /** `kind:owner`. */
  scope: text().notNull(),
  key: text().notNull(),
  content: text().notNull(),
  category: text({ enum: ['knowledge', 'timeline'] }).notNull(),
  tier: text({ enum: ['system', 'important', 'daily', 'misc'] }).notNull(),
  importance: real().notNull(),
  sessionId: text('session_id'),
  runId: text('run_id'),
  changedBy: text('changed_by').notNull(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  lastUsedAt: integer('last_used_at'),
  useCount: integer('use_count').notNull().default(0),
  expiresAt: integer('expires_at'),
  /** Engine and dictionary that cut the indexed words; null where none is needed, '' not indexed yet, 'pairs' without words. */
  cutBy: text('cut_by'),
  /** The model of its vector; '' none. */
  embeddedBy: text('embedded_by').notNull().default(''),
});

export const memoryChanges = sqliteTable('memory_changes', {
  seq: integer().primaryKey(),
  memoryId: text('memory_id').notNull(),
  at: integer().notNull(),
  action: text({ enum: ['create', 'replace', 'edit', 'promote', 'forget', 'expire'] }).notNull(),
  by: text().notNull(),
  runId: text('run_id'),
  oldContent: text('old_content'),
});

export const memoryVectors = sqliteTable('memory_vectors', {
  seq: integer().primaryKey(),
  model: text().notNull(),
  /** 32-bit floats, little-endian. */
  vector: blob({ mode: 'buffer' }).notNull(),
});

export const identities = sqliteTable('identities', {
  channel: text().notNull(),
  userId: text('user_id').notNull(),
  personId: text('person_id').notNull(),
});

export const consolidations = sqliteTable('consolidations', {
  sessionId: text('session_id').primaryKey(),
  /** The last event that was consolidated. */
  eventId: integer('event_id').notNull(),
  at: integer().notNull(),
});

/** What channels must know after a restart. */
export const channelValues = sqliteTable(
  'channel_values',
  {
    channel: text().notNull(),
    key: text().notNull(),
    value: text().notNull(),
    at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.channel, table.key] })],
);

/** Strangers and groups that asked to be let in. */
export const pairings = sqliteTable('pairings', {
  code: text().primaryKey(),
  channel: text().notNull(),
  kind: text({ enum: ['user', 'chat'] }).notNull(),
  subjectId: text('subject_id').notNull(),
  name: text(),
  /** Where to tell them that they were approved. */
  chatId: text('chat_id').notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  /** When the code was last shown to them. */
  toldAt: integer('told_at').notNull(),
});

/** Who was let in, beside the configuration's own lists. */
export const admissions = sqliteTable(
  'admissions',
  {
    channel: text().notNull(),
    kind: text({ enum: ['user', 'chat'] }).notNull(),
    subjectId: text('subject_id').notNull(),
    name: text(),
    chatId: text('chat_id').notNull(),
    role: text({ enum: ['owner', 'member'] }).notNull(),
    approvedBy: text('approved_by').notNull(),
    at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.channel, table.kind, table.subjectId] })],
);

/** Files of conversations; the bytes are in the workspace's `media` folder. */
export const media = sqliteTable('media', {
  id: text().primaryKey(),
  mimeType: text('mime_type').notNull(),
  size: integer().notNull(),
  fileName: text('file_name').notNull(),
  createdAt: integer('created_at').notNull(),
  usedAt: integer('used_at').notNull(),
});

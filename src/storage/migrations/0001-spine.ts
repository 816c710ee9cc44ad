/** Queues, sessions, transcript. A released migration never changes: add the next number instead. */
export const spine = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE inbound (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  channel TEXT NOT NULL,
  chat_id TEXT NOT NULL,
  dialog_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  lane TEXT NOT NULL,
  state TEXT NOT NULL,
  run_id TEXT,
  payload TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  UNIQUE (channel, chat_id, dialog_id, message_id)
) STRICT;
CREATE INDEX inbound_open ON inbound (seq) WHERE state <> 'done';
CREATE INDEX inbound_by_run ON inbound (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX inbound_by_age ON inbound (received_at) WHERE state = 'done';

CREATE TABLE outbound (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  channel TEXT NOT NULL,
  chat_id TEXT NOT NULL,
  state TEXT NOT NULL,
  payload TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  platform_id TEXT,
  created_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
CREATE INDEX outbound_open ON outbound (seq) WHERE state IN ('queued', 'sending');
CREATE INDEX outbound_by_age ON outbound (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE sessions (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  scope TEXT NOT NULL,
  title TEXT NOT NULL,
  title_source TEXT NOT NULL,
  parent_id TEXT,
  system_prompt TEXT,
  turn_count INTEGER NOT NULL DEFAULT 0,
  message_count INTEGER NOT NULL DEFAULT 0,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cached_input_tokens INTEGER NOT NULL DEFAULT 0,
  reasoning_tokens INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  last_active_at INTEGER NOT NULL,
  archived_at INTEGER,
  deleted_at INTEGER
) STRICT;
CREATE INDEX sessions_by_scope ON sessions (scope, last_active_at DESC);
CREATE INDEX sessions_by_activity ON sessions (last_active_at DESC, key DESC);

CREATE TABLE current_dialogs (scope TEXT PRIMARY KEY, session_id TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  key INTEGER PRIMARY KEY,
  session_key INTEGER NOT NULL REFERENCES sessions (key),
  id INTEGER NOT NULL,
  run_id TEXT NOT NULL,
  turn INTEGER NOT NULL,
  type TEXT NOT NULL,
  audience TEXT NOT NULL,
  body TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (session_key, id)
) STRICT;

CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  session_key INTEGER NOT NULL REFERENCES sessions (key),
  turn INTEGER NOT NULL,
  start_event_id INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  model TEXT NOT NULL,
  stop_reason TEXT,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cached_input_tokens INTEGER,
  reasoning_tokens INTEGER,
  started_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
CREATE INDEX runs_by_session ON runs (session_key, turn);
`;

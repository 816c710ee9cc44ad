/**
 * Memories, their index, their history, and the index over the transcripts.
 * `memory_index` keeps its tokens, so that a deletion can take them out of the index at once (`secure-delete`): forgotten
 * is forgotten. `transcript_index` keeps nothing but the index; its text is in `events`. Both get text that is cut already.
 */
export const memory = `
CREATE TABLE memories (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  content TEXT NOT NULL,
  category TEXT NOT NULL,
  tier TEXT NOT NULL,
  importance REAL NOT NULL,
  session_id TEXT,
  run_id TEXT,
  changed_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_used_at INTEGER,
  use_count INTEGER NOT NULL DEFAULT 0,
  expires_at INTEGER,
  cut_by TEXT,
  embedded_by TEXT NOT NULL DEFAULT '',
  UNIQUE (scope, key)
) STRICT;
CREATE INDEX memories_by_scope ON memories (scope, updated_at DESC, seq DESC);
CREATE INDEX memories_by_expiry ON memories (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX memories_timeline ON memories (updated_at) WHERE category = 'timeline';
CREATE INDEX memories_by_cut ON memories (cut_by) WHERE cut_by IS NOT NULL;
CREATE INDEX memories_by_embedding ON memories (embedded_by);

CREATE VIRTUAL TABLE memory_index USING fts5(scope, key, words, pairs, tokenize = "porter ascii tokenchars '+#'");
INSERT INTO memory_index (memory_index, rank) VALUES ('secure-delete', 1);
INSERT INTO memory_index (memory_index, rank) VALUES ('automerge', 0);
INSERT INTO memory_index (memory_index, rank) VALUES ('crisismerge', 500);

CREATE TABLE memory_changes (
  seq INTEGER PRIMARY KEY,
  memory_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  action TEXT NOT NULL,
  by TEXT NOT NULL,
  run_id TEXT,
  old_content TEXT
) STRICT;
CREATE INDEX memory_changes_by_memory ON memory_changes (memory_id, seq);

CREATE TABLE memory_vectors (
  seq INTEGER PRIMARY KEY REFERENCES memories (seq) ON DELETE CASCADE,
  model TEXT NOT NULL,
  vector BLOB NOT NULL
) STRICT;

CREATE TABLE identities (
  channel TEXT NOT NULL,
  user_id TEXT NOT NULL,
  person_id TEXT NOT NULL,
  PRIMARY KEY (channel, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_by_person ON identities (person_id);

CREATE TABLE consolidations (
  session_id TEXT PRIMARY KEY,
  event_id INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE transcript_index USING fts5(
  tokens, content = '', contentless_delete = 1, detail = none, tokenize = "porter ascii tokenchars '+#'"
);
INSERT INTO transcript_index (transcript_index, rank) VALUES ('automerge', 0);
INSERT INTO transcript_index (transcript_index, rank) VALUES ('crisismerge', 500);
`;

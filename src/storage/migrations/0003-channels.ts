/** Who may come in from a platform, what channels remember, and the files of conversations. */
export const channels = `
CREATE TABLE channel_values (
  channel TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (channel, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX channel_values_by_age ON channel_values (at);

CREATE TABLE pairings (
  code TEXT PRIMARY KEY,
  channel TEXT NOT NULL,
  kind TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  name TEXT,
  chat_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  told_at INTEGER NOT NULL,
  UNIQUE (channel, kind, subject_id)
) STRICT;

CREATE TABLE admissions (
  channel TEXT NOT NULL,
  kind TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  name TEXT,
  chat_id TEXT NOT NULL,
  role TEXT NOT NULL,
  approved_by TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (channel, kind, subject_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE media (
  id TEXT PRIMARY KEY,
  mime_type TEXT NOT NULL,
  size INTEGER NOT NULL,
  file_name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL
) STRICT;
CREATE INDEX media_by_age ON media (used_at);
`;

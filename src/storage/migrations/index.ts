/** Every migration in order; its place in the list is its version (SQLite's `user_version`). */
import { spine } from './0001-spine.js';
import { memory } from './0002-memory.js';
import { channels } from './0003-channels.js';

export const migrations: readonly { name: string; sql: string }[] = [
  { name: 'spine', sql: spine },
  { name: 'memory', sql: memory },
  { name: 'channels', sql: channels },
];

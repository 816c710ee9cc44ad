/** Every migration in order; its place in the list is its version (SQLite's `user_version`). */
import { spine } from './0001-spine.js';

export const migrations: readonly { name: string; sql: string }[] = [{ name: 'spine', sql: spine }];

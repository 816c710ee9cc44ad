/** Small values that channels keep over a restart: drafts, joined threads, parts already sent. */
import { and, eq, lt, sql } from 'drizzle-orm';
import type { Database } from '../storage/database.js';
import { channelValues } from '../storage/schema.js';

export interface ChannelValues {
  /** The values of one channel; `set` has committed when it returns. */
  of(channel: string): {
    get(key: string): string | undefined;
    set(key: string, value: string): void;
    delete(key: string): void;
  };
  /** Forgets what was last written before `before`. Returns how many. */
  prune(before: number): number;
}

export function createChannelValues(db: Database, options: { now: () => number }): ChannelValues {
  const { orm } = db;
  const here = and(
    eq(channelValues.channel, sql.placeholder('channel')),
    eq(channelValues.key, sql.placeholder('key')),
  );
  const read = orm.select({ value: channelValues.value }).from(channelValues).where(here).prepare();
  const remove = orm.delete(channelValues).where(here).prepare();
  const write = orm
    .insert(channelValues)
    .values({
      channel: sql.placeholder('channel'),
      key: sql.placeholder('key'),
      value: sql.placeholder('value'),
      at: sql.placeholder('at'),
    })
    .onConflictDoUpdate({
      target: [channelValues.channel, channelValues.key],
      set: { value: sql`excluded.value`, at: sql`excluded.at` },
    })
    .prepare();

  return {
    of: (channel) => ({
      get: (key) => read.get({ channel, key })?.value,
      set: (key, value) => void write.run({ channel, key, value, at: options.now() }),
      delete: (key) => void remove.run({ channel, key }),
    }),
    prune: (before) => orm.delete(channelValues).where(lt(channelValues.at, before)).run().changes,
  };
}

/**
 * Which accounts on different channels are one person. A memory stays filed under the account it was told to; a link
 * only opens it to the person's other accounts, so unlinking gives each account back exactly its own.
 */
import { and, eq } from 'drizzle-orm';
import type { Database } from '../storage/database.js';
import { identities as table } from '../storage/schema.js';

export interface Account {
  channel: string;
  userId: string;
}

export interface Identities {
  /** All accounts of the person behind this one, itself too if linked; empty when it is not linked. */
  accountsOf(channel: string, userId: string): Account[];
  /** The caller has made sure that the person agreed on both accounts. An account has one person: a new link replaces the old. */
  link(personId: string, channel: string, userId: string): void;
  /** False if it was not linked. */
  unlink(channel: string, userId: string): boolean;
  list(): (Account & { personId: string })[];
}

export function createIdentities(db: Database): Identities {
  const { orm } = db;
  const account = (channel: string, userId: string) => and(eq(table.channel, channel), eq(table.userId, userId));
  /** There are few links and every message asks for them. */
  let links = orm.select().from(table).all();
  const change = (write: () => { changes: number }) => {
    const { changes } = write();
    links = orm.select().from(table).all();
    return changes > 0;
  };
  return {
    accountsOf(channel, userId) {
      const known = links.find((link) => link.channel === channel && link.userId === userId);
      if (!known) return [];
      return links
        .filter((link) => link.personId === known.personId)
        .map((link) => ({ channel: link.channel, userId: link.userId }));
    },
    link(personId, channel, userId) {
      change(() =>
        orm
          .insert(table)
          .values({ channel, userId, personId })
          .onConflictDoUpdate({ target: [table.channel, table.userId], set: { personId } })
          .run(),
      );
    },
    unlink: (channel, userId) => change(() => orm.delete(table).where(account(channel, userId)).run()),
    list: () => links.map((link) => ({ ...link })),
  };
}

/** Whose a memory is. What an asker may see is always an explicit list of scopes, made here and nowhere else. */
import { chatScope } from '../protocol/ids.js';
import type { Role } from '../protocol/messages.js';
import type { Identities } from './identities.js';
import { MemoryError } from './memory-error.js';

export const scopeKinds = ['user', 'chat', 'project', 'agent', 'session', 'task'] as const;
export type ScopeKind = (typeof scopeKinds)[number];
/** `kind:owner`, e.g. `user:telegram:42`, `session:telegram:42:default`. */
export type Scope = string & { readonly __scope: true };

export interface MemoryActor {
  channel: string;
  chatId: string;
  /** Absent counts as a group, so that nobody's private facts reach a group by mistake. */
  chatType?: 'direct' | 'group';
  userId: string;
  role: Role;
  sessionId: string;
  projectId?: string;
  taskId?: string;
}

export interface ActorScopes {
  /** All that the actor may see. */
  readable: Scope[];
  /** Where the actor may write. */
  writable: Scope[];
  /** Where a fact without a named scope goes: to the person in a direct chat, else to the group. */
  home: Scope;
}

/** The assistant's own, seen by everybody it talks with; only owners write it. */
export const agentScope = scope('agent', 'main');

export function scope(kind: ScopeKind, owner: string): Scope {
  return `${kind}:${owner}` as Scope;
}

/** Throws `MemoryError` `memory_invalid` for anything that is not `kind:owner`. */
export function parseScope(text: string): Scope {
  const separator = text.indexOf(':');
  const isKind = scopeKinds.some((kind) => kind === text.slice(0, separator));
  if (isKind && separator < text.length - 1) return text as Scope;
  throw new MemoryError(
    'memory_invalid',
    `"${text}" is not a scope. Write kind:owner, with one of the kinds ${scopeKinds.join(', ')}, e.g. user:telegram:42.`,
  );
}

export function userScope(channel: string, userId: string): Scope {
  return scope('user', chatScope({ channel, chatId: userId }));
}

/**
 * In a direct chat: the person (all linked accounts), the chat, the dialog, the assistant. In a group: the group, the
 * dialog, the assistant, and nothing of the person. Project and task where the actor works in one.
 */
export function scopesOf(actor: MemoryActor, identities: Identities): ActorScopes {
  const chat = scope('chat', chatScope(actor));
  const shared = [
    chat,
    scope('session', actor.sessionId),
    ...(actor.projectId === undefined ? [] : [scope('project', actor.projectId)]),
    ...(actor.taskId === undefined ? [] : [scope('task', actor.taskId)]),
  ];
  const isDirect = actor.chatType === 'direct';
  const person = isDirect ? personScopes(actor, identities) : [];
  const own = [...person, ...shared];
  return {
    readable: [...own, agentScope],
    writable: actor.role === 'owner' ? [...own, agentScope] : own,
    home: person[0] ?? chat,
  };
}

/** The account itself first, then the accounts linked with it. */
function personScopes({ channel, userId }: MemoryActor, identities: Identities): Scope[] {
  const own = userScope(channel, userId);
  const linked = identities.accountsOf(channel, userId).map((account) => userScope(account.channel, account.userId));
  return [own, ...linked.filter((other) => other !== own)];
}

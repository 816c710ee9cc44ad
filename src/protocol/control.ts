/**
 * ControlChannel: dialog operations that reach the SessionManager beside ordinary messages.
 * The contract is here so that gateway and channels can hold one without knowing sessions.
 * All methods throw `UserError` (`session_not_found`, `invalid_session_id`, `run_not_found`, …).
 */
import type { AgentEvent, ToolCallState, Usage } from './events.js';
import type { SessionId } from './ids.js';

/** A slash command as a platform's menu shows it. */
export interface CommandSummary {
  /** Without the slash: a-z, 0-9, `_`, `-`. */
  name: string;
  usage?: string;
  summary: Record<'en' | 'zh', string>;
}

export interface SessionSummary {
  id: SessionId;
  channel: string;
  chatId: string;
  dialogId: string;
  title: string;
  parentId?: SessionId;
  messageCount: number;
  usage: Usage;
  createdAt: number;
  lastActiveAt: number;
  archived: boolean;
  /** The dialog that an unnamed message of its chat goes to. */
  current: boolean;
  /** A run is going on or waiting. */
  busy: boolean;
}

/** One row of the visible conversation: people's messages, answers and notices; no failed drafts. */
export interface VisibleMessage {
  /** Event id. */
  id: number;
  messageId?: string;
  runId: string;
  role: 'user' | 'assistant' | 'notice';
  text: string;
  at: number;
  senderName?: string;
  toolCalls?: { callId: string; name: string; input: unknown; state: ToolCallState | 'running'; output?: string }[];
}

export interface SearchQuery {
  /** Only dialogs of this one's scope. Absent: all that are not deleted, for owners only. */
  within?: SessionId;
  role?: 'user' | 'assistant';
  /** 1–100, default 20. */
  limit?: number;
  /** Newest first instead of best first; an empty query then lists the newest messages. */
  recent?: boolean;
}

export interface SearchHit {
  sessionId: SessionId;
  title: string;
  parentId?: SessionId;
  /** The client's id of a person's message, else the event id. */
  messageId: string;
  eventId: number;
  runId: string;
  role: 'user' | 'assistant';
  at: number;
  /** Each hit between ⟦ and ⟧. */
  snippet: string;
}

export interface RunReference {
  sessionId: SessionId;
  runId: string;
  /** Id of the run's `run-start` event: replay with `events(sessionId, startEventId - 1)`. */
  startEventId: number;
  state: 'running' | 'done';
}

export interface SessionFilter {
  channel?: string;
  chatId?: string;
  /** Only dialogs that share this one's current mark: its chat's, or its member's where a group has one dialog per user. */
  sameScopeAs?: SessionId;
  /** Default false: archived dialogs are left out; true lists only those. */
  archived?: boolean;
  /** Default 10, 1–200. */
  limit?: number;
  /** `nextCursor` of the page before. */
  cursor?: string;
}

export interface Page<T> {
  items: T[];
  nextCursor?: string;
}

export interface ControlChannel {
  list(filter: SessionFilter): Page<SessionSummary>;
  /** Creates a dialog and makes it the chat's current one. `dialogId` must be new; default: a fresh `d_…`. */
  create(options: {
    channel: string;
    chatId: string;
    title?: string;
    dialogId?: string;
    /** The new dialog takes this one's place as the current one. */
    sameScopeAs?: SessionId;
  }): SessionSummary;
  get(id: string): SessionSummary;
  update(id: string, change: { title?: string; archived?: boolean }): SessionSummary;
  /** Makes the dialog the current one of its chat. */
  switchTo(id: string): SessionSummary;
  /** Soft: the row and its events stay. A running turn is stopped first. */
  delete(id: string): Promise<void>;
  /** The whole dialog as Markdown for people, or as JSON that `importDialog` takes. */
  exportDialog(id: string, format: 'md' | 'json'): string;
  /** Makes a new dialog from an exported one. Throws `UserError` `invalid_dialog_file`. */
  importDialog(chat: { channel: string; chatId: string }, data: unknown): SessionSummary;
  /** Full text over transcripts. Any text is a valid query; one without words finds nothing. */
  search(query: string, options: SearchQuery): Promise<SearchHit[]>;
  /** Takes back a delete or an archiving. */
  restore(id: string): SessionSummary;
  /** Oldest first. `before`: event id, exclusive. Default the newest 100; limit 1–1000. */
  messages(id: string, options?: { before?: number; limit?: number }): VisibleMessage[];
  /** Every event with an id above `after`, live deltas included, oldest first; at most `limit` (default 1000). */
  events(id: string, after: number, limit?: number): AgentEvent[];
  /**
   * Makes the dialog smaller for the model now. Only between turns: throws `UserError` `session_busy` while one is running.
   * Tokens of a request, before and after; `unchanged` when there is nothing to gain.
   */
  compact(
    id: string,
    signal: AbortSignal,
  ): Promise<{ kind: 'compacted'; tokensBefore: number; tokensAfter: number } | { kind: 'unchanged' }>;
  /** Ends the running turn with `cancelled` and drops what waits behind it in the same lane. */
  stop(id: string, reason: string): Promise<{ stopped: boolean; cleared: number }>;
  /** The run that answers (or answered) a stored message; undefined while it still waits or when it is unknown. */
  runOf(message: { channel: string; chatId: string; dialogId?: string; messageId: string }): RunReference | undefined;
  /** What waits in the dialog's lane, oldest first. */
  queued(id: string): { messageId: string; text: string; at: number }[];
}

/** Live events, published after they are stored. Listeners must not throw and must not block. */
export interface EventFeed {
  subscribe(listener: (event: AgentEvent) => void): () => void;
}

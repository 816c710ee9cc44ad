/**
 * Agent events: one union for transcript, channels' progress, WebSocket, SSE, event log and observers.
 * What is published is what is stored, except deltas, which their `assistant-message` replaces.
 */
import type { SessionId } from './ids.js';
import type { MediaRef, Sender } from './messages.js';

export type StopReason =
  | 'end_turn'
  | 'max_turns'
  | 'no_progress'
  | 'cancelled'
  | 'budget_exceeded'
  | 'timeout'
  | 'awaiting_permission'
  | 'awaiting_user'
  | 'model_error';

/** Tokens as the provider counted them; absent where it did not say (never 0 for unknown). */
export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
  /** Part of `inputTokens` read from the provider's prompt cache. */
  cachedInputTokens?: number;
  /** Part of `outputTokens`. */
  reasoningTokens?: number;
}

export interface AssistantToolCall {
  callId: string;
  name: string;
  /** Parsed arguments; `invalid` says why they could not be parsed (then `input` is the raw text). */
  input: unknown;
  invalid?: string;
}

export type ToolCallState = 'done' | 'failed' | 'interrupted';

export type EventBody =
  | { type: 'run-start'; model: string; messageIds: string[]; attempt: number }
  /** A person's message. `text` as typed, `sent` as the model gets it (with recalled memory, time, speaker). */
  | { type: 'user-message'; messageId: string; text: string; sent: string; sender: Sender; attachments: MediaRef[] }
  /** A slash command as typed; the model never sees it. */
  | { type: 'command'; messageId: string; text: string; sender: Sender; attachments: MediaRef[] }
  | { type: 'text-delta'; step: number; text: string }
  | { type: 'reasoning-delta'; step: number; text: string }
  /** One finished model call. `deltas`: [event id, UTF-16 length] of each text delta it replaces, for exact replay. */
  | {
      type: 'assistant-message';
      step: number;
      text: string;
      reasoning?: ReasoningPart[];
      toolCalls: AssistantToolCall[];
      deltas: [id: number, length: number][];
    }
  | { type: 'tool-call'; step: number; callId: string; name: string; input: unknown }
  | {
      type: 'tool-result';
      step: number;
      callId: string;
      name: string;
      state: ToolCallState;
      output: string;
      durationMs: number;
    }
  | { type: 'permission-request'; requestId: string; tool: string; input: unknown; reason: string; diff?: string }
  | { type: 'question'; requestId: string; text: string; choices?: string[] }
  /**
   * For the model, `messages` stand for all events up to `to`; the events stay. `summary` is for people.
   * `messages` is empty where the event is published: only the stored one holds them.
   */
  | {
      type: 'compaction';
      from: number;
      to: number;
      summary: string;
      messages: unknown[];
      tokensBefore: number;
      tokensAfter: number;
    }
  | { type: 'model-retry'; model: string; attempt: number; waitMs: number; reason: string }
  | { type: 'model-fallback'; from: string; to: string; reason: string }
  /** One model call's usage. */
  | { type: 'usage'; step: number; model: string; usage: Usage }
  /** The exact system prompt and tool names of the run. For nobody but the process view. */
  | { type: 'prompt-snapshot'; system: string; tools: string[] }
  /** Text for people only: a command's answer, an error, a hint. */
  | { type: 'notice'; text: string }
  | {
      type: 'run-end';
      stopReason: StopReason;
      text: string;
      usage: Usage;
      error?: { code: string; message: string };
    };

/** Reasoning as the provider gave it; `metadata` is opaque and goes back unchanged to the same wire family. */
export interface ReasoningPart {
  text: string;
  metadata?: Record<string, unknown>;
}

export interface EventStamp {
  /** Rises by at least 1 within a session; the SSE `id:` and `lastEventId`. */
  id: number;
  sessionId: SessionId;
  runId: string;
  /** 1 for the first turn of the session. */
  turn: number;
  /** ms since the epoch. */
  at: number;
}

export type AgentEvent = EventBody & EventStamp;
export type EventType = EventBody['type'];
export type EventOf<T extends EventType> = Extract<EventBody, { type: T }> & EventStamp;

/** Who sees an event: the model, people, both, or nobody (process view only). */
export type Audience = 'model' | 'people' | 'both' | 'nobody';

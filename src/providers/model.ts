/** The model contract: one chat model behind one wire. Stateless, knows no bus, session or channel. */
import type { AssistantToolCall, ReasoningPart, Usage } from '../protocol/events.js';

export type UserPart = { type: 'text'; text: string } | { type: 'media'; mimeType: string; dataUrl: string };

/** Our conversation format: what the transcript rebuilds and every wire family is made from. */
export type ModelMessage =
  | { role: 'user'; content: UserPart[] }
  | { role: 'assistant'; text: string; reasoning?: ReasoningPart[]; toolCalls: AssistantToolCall[] }
  | { role: 'tool'; callId: string; name: string; output: string; isError: boolean };

export interface ToolSpec {
  name: string;
  description: string;
  /** JSON Schema of an object. */
  inputSchema: Record<string, unknown>;
}

export type Thinking = 'off' | 'low' | 'medium' | 'high';

export interface ModelRequest {
  system: string;
  /** Valid: starts with user; every tool call is followed by exactly its results; no empty text. */
  messages: ModelMessage[];
  tools: ToolSpec[];
  thinking: Thinking;
  maxOutputTokens?: number;
  temperature?: number;
}

export type ModelEvent =
  | { type: 'text-delta'; text: string }
  | { type: 'reasoning-delta'; text: string }
  /** Complete reasoning of the step, to be stored and sent back; at most once, before `end`. */
  | { type: 'reasoning'; parts: ReasoningPart[] }
  /** A complete call; `invalid` when its arguments are not JSON. */
  | ({ type: 'tool-call' } & AssistantToolCall)
  /** A failed attempt is tried again after `waitMs`; only before any other event. */
  | { type: 'retry'; attempt: number; waitMs: number; reason: string }
  | { type: 'fallback'; from: string; to: string; reason: string }
  | { type: 'end'; reason: ModelEndReason; usage: Usage; model: string };

export type ModelEndReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'other';

export interface Model {
  /** `platform/model`. */
  readonly id: string;
  /**
   * Streams one step; on success the last event is `end`, exactly once.
   * Throws `ProviderError`, possibly after some deltas, or the signal's reason when it aborts.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

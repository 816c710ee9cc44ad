/** How every caller (chat turn, job, sub-agent, embedding program) starts the one loop. What differs is data in here. */
import type { EventBody, StopReason, Usage } from '../protocol/events.js';
import type { Model, ModelMessage, Thinking } from '../providers/model.js';
import type { Tool, ToolContext } from '../tools/tool.js';

export interface RunDescription {
  runId: string;
  sessionId: string;
  system: string;
  /** Conversation so far, the new input last; or, when a run is taken up again, its finished steps last. */
  messages: ModelMessage[];
  model: Model;
  tools: readonly Tool[];
  actor: ToolContext['actor'];
  thinking: Thinking;
  /** Asked between steps: what people said meanwhile, stored already; it goes to the model with the next call. */
  newInput?: () => ModelMessage[];
  limits: {
    /** Model calls in this run, those of earlier attempts included. */
    maxSteps: number;
    /** Steps already done by an earlier attempt. */
    stepsDone: number;
  };
  /** Called before each model call; true asks for `compact('size')` first. */
  isTooLarge?: (messages: readonly ModelMessage[]) => boolean;
  /**
   * Makes the conversation smaller and returns all of it, as the next request is to have it; undefined when that is
   * not possible. Everything yielded so far is stored when it is called. Throws the signal's reason when that aborts.
   * `size`: the request is about to be too large. `overflow`: the platform refused it as too large.
   */
  compact?: (reason: 'size' | 'overflow', signal: AbortSignal) => Promise<ModelMessage[] | undefined>;
}

/** What the loop yields. The consumer has stored an event when it asks for the next one. */
export type LoopEvent = Extract<
  EventBody,
  {
    type:
      | 'text-delta'
      | 'reasoning-delta'
      | 'assistant-message'
      | 'tool-call'
      | 'tool-result'
      | 'model-retry'
      | 'model-fallback'
      | 'usage';
  }
>;

export interface RunResult {
  stopReason: StopReason;
  /** The final answer; empty when there is none. */
  text: string;
  usage: Usage;
  error?: { code: string; message: string };
}

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
  limits: {
    /** Model calls in this run, those of earlier attempts included. */
    maxSteps: number;
    /** Steps already done by an earlier attempt. */
    stepsDone: number;
  };
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

/** WebSocket frames. Client frames are checked with these schemas; server frames are what a client may rely on. */
import { z } from 'zod';
import type { VisibleMessage } from './control.js';
import type { StopReason, ToolCallState, Usage } from './events.js';
import { messageId, messageText, sessionReference } from './fields.js';

const textFrame = z.object({
  type: z.literal('text'),
  sessionId: sessionReference.default('default'),
  messageId: messageId.optional(),
  content: z.object({ text: messageText }),
});

const stopFrame = z.object({
  type: z.literal('stop'),
  sessionId: sessionReference.default('default'),
  /** Stops only if this message is not answered yet. */
  messageId: messageId.optional(),
});

const settingFrame = z.object({
  type: z.literal('setting'),
  messageId: messageId.optional(),
  content: z.object({ act: z.enum(['getConfig', 'getDefaultConfig', 'saveConfig']), data: z.unknown().optional() }),
});

const systemFrame = z.object({
  type: z.literal('system'),
  messageId: messageId.optional(),
  content: z.object({ act: z.enum(['getVersion', 'getModels']) }),
});

const subscribeFrame = z.object({
  type: z.literal('subscribe'),
  sessionId: sessionReference.default('default'),
  /** Of the last frame or `sync` that the client has seen. */
  lastEventId: z.int().min(0).optional(),
});

const unsubscribeFrame = z.object({
  type: z.literal('unsubscribe'),
  sessionId: sessionReference.default('default'),
});

export const clientFrame = z.discriminatedUnion('type', [
  textFrame,
  stopFrame,
  settingFrame,
  systemFrame,
  subscribeFrame,
  unsubscribeFrame,
]);

/** As a client writes it. */
export type ClientFrame = z.input<typeof clientFrame>;
/** As the server reads it, defaults filled in. */
export type CheckedFrame = z.output<typeof clientFrame>;
export type ClientFrameType = CheckedFrame['type'];

export const clientFrameTypes: readonly string[] = clientFrame.options.map((option) => option.shape.type.value);

/** Part of the protocol's names, not taken by this server: answered with `unsupported_frame`. */
export const reservedFrameTypes: readonly string[] = ['chat', 'reply'];

/** What every frame of a turn carries. `sessionId` is spelled as the client spelled it. */
interface TurnStamp {
  sessionId: string;
  /** The message that the turn answers. */
  messageId: string;
  runId: string;
  /** Rises within a dialog; `subscribe` with the newest one goes on from there. */
  eventId: number;
}

export interface ToolCallView {
  id: string;
  name: string;
  input: unknown;
  state: ToolCallState | 'running';
  /** The tool's output, once it ended. */
  result?: string;
}

export type TurnFrame = TurnStamp &
  /** `attempt` above 1: the daemon was restarted in the middle, and the unfinished step is streamed anew. */
  (
    | { type: 'start'; content: { model: string; attempt: number } }
    | { type: 'text'; content: string }
    | { type: 'reasoning'; content: string }
    /** Text for people that is not part of the answer. */
    | { type: 'notice'; content: string }
    | { type: 'tool_calls'; content: ToolCallView[] }
    /** The last frame of a turn. `text` is the whole final answer. */
    | { type: 'end'; content: { stopReason: StopReason; usage: Usage; text: string } }
  );

export interface ErrorFrame {
  type: 'error';
  sessionId?: string;
  messageId?: string;
  content: { code: string; message: string; details?: unknown };
}

/** Answers of `setting` and `system`; with status `error`, `data` is `{code, message, details?}`. */
export interface ReplyFrame {
  type: 'setting' | 'system';
  status: 'success' | 'error';
  act: string;
  data: unknown;
  messageId?: string;
}

export interface QueuedMessageView {
  messageId: string;
  text: string;
  at: number;
}

export type SessionFrame =
  /** The newest stored messages, oldest first. What a turn has streamed since its newest message comes as frames. */
  | { type: 'sync'; sessionId: string; content: { messages: VisibleMessage[]; lastEventId: number } }
  | { type: 'history/add'; sessionId: string; content: VisibleMessage[] }
  | { type: 'context'; sessionId: string; content: QueuedMessageView[] };

/** Closes a batch: all that several messages in one text frame asked for is done. */
export interface BatchEndFrame {
  type: 'end';
}

export type ServerFrame = TurnFrame | ErrorFrame | ReplyFrame | SessionFrame | BatchEndFrame;

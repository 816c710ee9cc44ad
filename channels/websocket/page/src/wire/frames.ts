/** Reads what arrives on `/ws`. Unknown frames are passed over, so that the server may grow. */
import type {
  ErrorFrame,
  ClientFrame as ProtocolClientFrame,
  ReplyFrame,
  SessionFrame,
  TurnFrame,
} from '../../../../../src/protocol/frames.js';

export type { QueuedMessageView, ToolCallView } from '../../../../../src/protocol/frames.js';
export type ClientFrame = ProtocolClientFrame;
/** What the page acts on; the end of a batch is nothing to it, it sends one message at a time. */
export type PageFrame = TurnFrame | ErrorFrame | SessionFrame | ReplyFrame;
export type EndFrame = Extract<TurnFrame, { type: 'end' }>;

/** Longest text of one frame that the gateway takes, in bytes of UTF-8, with room for the envelope. */
export const maxTextBytes = 1_000_000;

/** The frames in one WebSocket text message: one JSON object, or several separated by newlines. Throws on broken JSON. */
export function readFrames(data: string): PageFrame[] {
  return data.split('\n').flatMap((line) => {
    if (line.trim() === '') return [];
    const frame: unknown = JSON.parse(line);
    return isPageFrame(frame) ? [frame] : [];
  });
}

function isPageFrame(frame: unknown): frame is PageFrame {
  if (!isRecord(frame)) return false;
  const { type, content } = frame;
  switch (type) {
    case 'text':
    case 'reasoning':
    case 'notice':
      return hasTurnStamp(frame) && typeof content === 'string';
    case 'tool_calls':
      return hasTurnStamp(frame) && Array.isArray(content);
    case 'start':
    case 'end':
      return hasTurnStamp(frame) && isRecord(content);
    case 'sync':
      return typeof frame.sessionId === 'string' && isRecord(content) && Array.isArray(content.messages);
    case 'history/add':
    case 'context':
      return typeof frame.sessionId === 'string' && Array.isArray(content);
    case 'error':
      return isRecord(content) && typeof content.message === 'string';
    case 'system':
    case 'setting':
      return true;
    default:
      return false;
  }
}

function hasTurnStamp(frame: Record<string, unknown>): boolean {
  return (
    typeof frame.sessionId === 'string' &&
    typeof frame.messageId === 'string' &&
    typeof frame.runId === 'string' &&
    typeof frame.eventId === 'number'
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

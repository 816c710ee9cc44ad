/** Reads what the server sends. Types that this client does not know are passed over, so that the server may grow. */
import { UserError } from '../protocol/errors.js';
import type { ErrorFrame, ReplyFrame, SessionFrame, TurnFrame } from '../protocol/frames.js';

/** An error frame; with `runId` it belongs to a run whose `end` follows. */
export type ReceivedError = ErrorFrame & { runId?: string };
/** What the client acts on. It sends one message at a time, so the end of a batch means nothing to it. */
export type ReceivedFrame = TurnFrame | ReceivedError | SessionFrame | ReplyFrame;

/** The frames in one text message: one JSON object, or several separated by newlines. Throws `bad_answer`. */
export function readFrames(data: unknown): ReceivedFrame[] {
  if (typeof data !== 'string') throw badAnswer();
  return data.split('\n').flatMap((line) => {
    if (line.trim() === '') return [];
    const frame = parse(line);
    return isKnown(frame) ? [frame] : [];
  });
}

export function isTurnFrame(frame: ReceivedFrame): frame is TurnFrame {
  return turnTypes.has(frame.type);
}

const turnTypes: ReadonlySet<string> = new Set(['start', 'text', 'reasoning', 'notice', 'tool_calls', 'end']);

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw badAnswer(error);
  }
}

function badAnswer(cause?: unknown): UserError {
  return new UserError(
    'bad_answer',
    'What answers at this address does not speak the protocol of PicoBot. Check the address and the versions.',
    { cause },
  );
}

function isKnown(frame: unknown): frame is ReceivedFrame {
  if (!isRecord(frame)) return false;
  const { type, content } = frame;
  switch (type) {
    case 'text':
    case 'reasoning':
    case 'notice':
      return hasTurnStamp(frame) && typeof content === 'string';
    case 'tool_calls':
      return hasTurnStamp(frame) && Array.isArray(content) && content.every(isRecord);
    case 'start':
    case 'end':
      return hasTurnStamp(frame) && isRecord(content);
    case 'sync':
      return typeof frame.sessionId === 'string' && isRecord(content) && Array.isArray(content.messages);
    case 'history/add':
    case 'context':
      return typeof frame.sessionId === 'string' && Array.isArray(content);
    case 'error':
      return isRecord(content) && typeof content.code === 'string' && typeof content.message === 'string';
    case 'system':
    case 'setting':
      return frame.status === 'success' || frame.status === 'error';
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

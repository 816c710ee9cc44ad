/** What one text frame holds: a JSON message, or several separated by newlines; and which of them we take. */
import { UserError } from '../../src/protocol/errors.js';
import { type CheckedFrame, clientFrame, clientFrameTypes, reservedFrameTypes } from '../../src/protocol/frames.js';
import { checkShape, readJson } from '../../src/protocol/read-json.js';

/** Messages in one text frame. */
export const maxBatchSize = 100;

/** The messages, still as text. One message may itself span lines. Throws `batch_too_large`. */
export function splitBatch(text: string): string[] {
  if (!text.includes('\n')) return [text];
  if (isJson(text)) return [text];
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length <= maxBatchSize) return lines.length === 0 ? [text] : lines;
  throw new UserError(
    'batch_too_large',
    `One frame holds at most ${maxBatchSize} messages. Send them in several frames.`,
  );
}

/** Throws `invalid_json`, `json_too_deep`, `unknown_type`, `unsupported_frame`, `invalid_request`. */
export function readFrame(value: unknown): CheckedFrame {
  const type = isObject(value) ? value.type : undefined;
  if (typeof type !== 'string') {
    throw new UserError('invalid_request', 'A message is a JSON object with a "type".', {
      details: [{ path: 'type', message: 'is missing' }],
    });
  }
  if (reservedFrameTypes.includes(type)) {
    throw new UserError('unsupported_frame', `Messages of type "${type}" are not taken by this version.`);
  }
  if (!clientFrameTypes.includes(type)) {
    throw new UserError(
      'unknown_type',
      `There is no message type "${type.slice(0, 100)}". Known are: ${clientFrameTypes.join(', ')}.`,
    );
  }
  return checkShape(clientFrame, value);
}

/** What an error frame repeats, so that the client knows which message it is about. */
export function echoOf(value: unknown): { sessionId?: string; messageId?: string } {
  if (!isObject(value)) return {};
  const { sessionId, messageId } = value;
  return {
    ...(isShortText(sessionId) && { sessionId }),
    ...(isShortText(messageId) && { messageId }),
  };
}

function isJson(text: string): boolean {
  try {
    readJson(text);
    return true;
  } catch {
    return false;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isShortText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 1000;
}

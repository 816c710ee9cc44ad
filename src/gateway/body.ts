/** Reads a request's body within a limit, before any handler sees the request. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { UserError } from '../protocol/errors.js';

/** Of a body that is too large, so much is read and thrown away, so that the client hears why it was refused. */
const maxDiscardedBytes = 32 * 1024 * 1024;

/** Throws `body_too_large`; and `request_aborted` when the client left before the end. */
export async function readBody(request: IncomingMessage, response: ServerResponse, maxBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (finish: () => void) => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      finish();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) settle(() => reject(tooLarge(maxBytes)));
      else chunks.push(chunk);
    };
    const onEnd = () => settle(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    const onClose = () => settle(() => reject(new UserError('request_aborted', 'The client left.', { status: 499 })));
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

/** Lets an unread rest run into nothing. A client that never ends is cut off. */
export function discardRest(request: IncomingMessage): void {
  if (request.complete) return;
  let size = 0;
  request.on('error', () => {});
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxDiscardedBytes) request.destroy();
  });
}

function tooLarge(maxBytes: number): UserError {
  return new UserError('body_too_large', `The body is larger than ${maxBytes} bytes ("gateway.maxTextBytes").`, {
    status: 413,
  });
}

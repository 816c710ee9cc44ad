/** The sending side of one connection: bounded, so that a peer that reads slowly or never costs no more than the bound. */
import type { WebSocket } from 'ws';
import { describeError } from '../../src/protocol/errors.js';
import type { ErrorFrame, ServerFrame } from '../../src/protocol/frames.js';

/** With more than this unsent the peer is too slow and is let go. */
export const maxUnsentBytes = 8 * 1024 * 1024;
/** With more than this unsent nothing is read from the store for it. */
const fullBytes = 1024 * 1024;

export const closeCodes = { goingAway: 1001, policy: 1008, tooSlow: 1013 } as const;

export interface Outlet {
  /** Drops the frame when the connection is closing. */
  sendText(text: string): void;
  send(frame: ServerFrame): void;
  sendError(error: unknown, echo?: Pick<ErrorFrame, 'sessionId' | 'messageId'>): void;
  isFull(): boolean;
}

export function createOutlet(socket: WebSocket, onTooSlow: () => void): Outlet {
  const sendText = (text: string) => {
    if (socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount > maxUnsentBytes) {
      onTooSlow();
      socket.close(closeCodes.tooSlow, 'reads too slowly; connect again and subscribe from the last event');
      return;
    }
    socket.send(text);
  };
  const send = (frame: ServerFrame) => sendText(JSON.stringify(frame));
  return {
    sendText,
    send,
    sendError: (error, echo = {}) => send({ type: 'error', ...echo, content: describeError(error) }),
    isFull: () => socket.bufferedAmount > fullBytes,
  };
}

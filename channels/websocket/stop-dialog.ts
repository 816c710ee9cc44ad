/** Ends a dialog's running turn for a client, which gets the turn's `end` even if it did not follow the turn. */
import type { ControlChannel } from '../../src/protocol/control.js';
import { UserError } from '../../src/protocol/errors.js';
import { type DialogAddress, sessionId } from '../../src/protocol/ids.js';
import type { RunWatch } from '../run-watch.js';
import { type FrameEncoder, frameText, stampText } from './encode.js';
import type { Outlet } from './outlet.js';

/** Throws `run_not_found` when nothing runs or waits, or when the named message is answered already. */
export async function stopDialog(options: {
  control: ControlChannel;
  watch: RunWatch;
  encode: FrameEncoder;
  outlet: Outlet;
  address: DialogAddress;
  frame: { sessionId: string; messageId?: string | undefined };
  /** The connection follows that run anyway. */
  getsEndOf: (runId: string) => boolean;
}): Promise<void> {
  const { control, watch, encode, outlet, address, frame } = options;
  const id = sessionId(address);
  if (frame.messageId !== undefined) {
    const run = control.runOf({ ...address, messageId: frame.messageId });
    if (run?.state === 'done') throw nothingToStop(`The message "${frame.messageId}" is answered already.`);
  }
  const stopListening = watch.activeRuns(id).flatMap(({ runId, messageIds }) => {
    if (options.getsEndOf(runId)) return [];
    const stamp = stampText(frame.sessionId, frame.messageId ?? messageIds[0] ?? runId, runId);
    return watch.followRun(runId, (event) => {
      if (event.type !== 'run-end') return;
      for (const part of encode(event, () => undefined)) outlet.sendText(frameText(part, stamp, event.id));
    });
  });
  try {
    const { stopped, cleared } = await control.stop(id, 'stopped over WebSocket');
    if (!stopped && cleared === 0) throw nothingToStop('Nothing runs in this dialog.');
  } finally {
    for (const stop of stopListening) stop();
  }
}

function nothingToStop(message: string): UserError {
  return new UserError('run_not_found', message, { status: 404 });
}

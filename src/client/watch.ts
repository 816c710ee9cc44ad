/** A reader that follows a dialog. */
import type { SessionFrame, TurnFrame } from '../protocol/frames.js';
import { FrameQueue } from './frame-queue.js';
import { isTurnFrame } from './read-frames.js';

/** Frames of a followed dialog, except those of own turns. */
export type DialogFrame = SessionFrame | TurnFrame;

export class Watch {
  readonly frames: FrameQueue<DialogFrame>;
  /** Newest event that was delivered or passed over; undefined before the first `sync`. */
  lastEventId: number | undefined;

  constructor(onReturn: () => void) {
    this.frames = new FrameQueue(onReturn);
  }

  push(frame: DialogFrame): void {
    if (isTurnFrame(frame)) {
      if (frame.eventId <= (this.lastEventId ?? 0)) return;
      this.lastEventId = frame.eventId;
    } else if (frame.type === 'sync') {
      // Smaller than before when the daemon forgot what it had not stored: then its ids count.
      this.lastEventId = frame.content.lastEventId;
    }
    this.frames.push(frame);
  }

  /** An event of an own turn. */
  skipTo(eventId: number): void {
    if (this.lastEventId !== undefined && eventId > this.lastEventId) this.lastEventId = eventId;
  }
}

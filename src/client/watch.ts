/** A reader that follows a dialog. */
import type { SessionFrame, TurnFrame } from '../protocol/frames.js';
import { FrameCursor } from './frame-cursor.js';
import { FrameQueue } from './frame-queue.js';
import { isTurnFrame } from './read-frames.js';

/** Frames of a followed dialog, except those of own turns. */
export type DialogFrame = SessionFrame | TurnFrame;

export class Watch {
  readonly frames: FrameQueue<DialogFrame>;
  readonly cursor = new FrameCursor();
  /** The server has told once where the dialog stands. */
  isSynced = false;

  constructor(onReturn: () => void) {
    this.frames = new FrameQueue(onReturn);
  }

  push(frame: DialogFrame): void {
    if (isTurnFrame(frame)) {
      const news = this.cursor.take(frame);
      if (news) this.frames.push(news);
      return;
    }
    if (frame.type === 'sync') {
      const { lastEventId } = frame.content;
      this.isSynced = true;
      // Smaller than before when the daemon forgot what it had not stored: then its ids count.
      if (lastEventId < this.cursor.lastEventId) this.cursor.restart(lastEventId);
      else this.cursor.skipTo(lastEventId);
    }
    this.frames.push(frame);
  }
}

/**
 * What a reader of a dialog's frames has seen, so that each text comes once over many connections. A server that is
 * asked for what follows an event tells a finished step's text as one frame, with the id of its last piece.
 */
import type { TurnFrame } from '../protocol/frames.js';

type Piece = readonly [eventId: number, length: number];

export class FrameCursor {
  #lastEventId = 0;
  /** Reasoning and notices may be told before text that is older. */
  #lastAsideId = 0;
  /** The text of the step that streams. */
  #pieces: Piece[] = [];
  /** Pieces that are about to come once more. */
  #repeated: Piece[] = [];

  /** All text up to this event was seen: where to resume. */
  get lastEventId(): number {
    return this.#lastEventId;
  }

  /** The server goes on after this event, which may be older than the newest one seen. */
  resumeFrom(eventId: number): void {
    this.#repeated = this.#pieces.filter(([id]) => id > eventId);
  }

  /** What was seen does not count any more; `eventId` is where the server stands. */
  restart(eventId: number): void {
    this.#lastEventId = eventId;
    this.#lastAsideId = eventId;
    this.#pieces = [];
    this.#repeated = [];
  }

  /** Events up to this one are known in another way, or are nothing to this reader. */
  skipTo(eventId: number): void {
    this.#lastEventId = Math.max(this.#lastEventId, eventId);
    this.#lastAsideId = Math.max(this.#lastAsideId, eventId);
  }

  /** The frame, or what is new of it; undefined when nothing is. */
  take(frame: TurnFrame): TurnFrame | undefined {
    const { type, eventId } = frame;
    if (type === 'reasoning' || type === 'notice') {
      if (eventId <= this.#lastAsideId) return undefined;
      this.#lastAsideId = eventId;
      return frame;
    }
    if (eventId <= this.#lastEventId) {
      this.#repeated = this.#repeated.filter(([id]) => id > eventId);
      return undefined;
    }
    this.#lastEventId = eventId;
    if (type !== 'text') {
      this.#pieces = [];
      this.#repeated = [];
      return frame;
    }
    const seen = this.#repeated.reduce((sum, [, length]) => sum + length, 0);
    const content = frame.content.slice(seen);
    this.#repeated = [];
    this.#pieces.push([eventId, content.length]);
    return content === '' ? undefined : { ...frame, content };
  }
}

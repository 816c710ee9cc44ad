/** Frames between the socket and whoever reads them: in order, bounded, one reader. */
import { UserError } from '../protocol/errors.js';
import type { ReceivedFrame } from './read-frames.js';

/** What may wait for a reader, in UTF-16 code units of JSON (texts are counted as they are). */
export const maxWaitingSize = 16 * 1024 * 1024;

export class FrameQueue<Frame extends ReceivedFrame> implements AsyncIterableIterator<Frame> {
  readonly #waiting: Frame[] = [];
  readonly #onReturn: () => void;
  #size = 0;
  #state: { name: 'open' } | { name: 'ended' } | { name: 'failed'; error: unknown } = { name: 'open' };
  #wake: (() => void) | undefined;

  /** `onReturn` is called when the reader has had enough before the end. */
  constructor(onReturn: () => void = () => {}) {
    this.#onReturn = onReturn;
  }

  /** Texts that wait are joined, so a slow reader costs little. Fails the queue (`reader_too_slow`) beyond the bound. */
  push(frame: Frame): void {
    if (this.#state.name !== 'open') return;
    this.#size += sizeOf(frame);
    if (this.#size > maxWaitingSize) {
      this.#waiting.length = 0;
      this.fail(new UserError('reader_too_slow', 'More frames came than were read; the rest is in the dialog.'));
      return;
    }
    const joined = join(this.#waiting.at(-1), frame);
    if (joined) this.#waiting[this.#waiting.length - 1] = joined;
    else this.#waiting.push(frame);
    this.#wake?.();
  }

  /** What waits is still read. */
  end(): void {
    if (this.#state.name !== 'open') return;
    this.#state = { name: 'ended' };
    this.#wake?.();
  }

  /** What waits is still read, then the reader gets the error. */
  fail(error: unknown): void {
    if (this.#state.name !== 'open') return;
    this.#state = { name: 'failed', error };
    this.#wake?.();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Frame>> {
    for (;;) {
      const frame = this.#waiting.shift();
      if (frame) {
        this.#size -= sizeOf(frame);
        return { done: false, value: frame };
      }
      if (this.#state.name === 'ended') return { done: true, value: undefined };
      if (this.#state.name === 'failed') {
        const { error } = this.#state;
        this.#state = { name: 'ended' };
        throw error;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }

  async return(): Promise<IteratorResult<Frame>> {
    if (this.#state.name === 'open') {
      this.end();
      this.#onReturn();
    }
    this.#waiting.length = 0;
    return { done: true, value: undefined };
  }
}

/** Two deltas of one kind and one run as one, with the newer id. */
function join<Frame extends ReceivedFrame>(last: Frame | undefined, frame: Frame): Frame | undefined {
  if (!last || last.type !== frame.type) return undefined;
  if (last.type !== 'text' && last.type !== 'reasoning') return undefined;
  if (frame.type !== 'text' && frame.type !== 'reasoning') return undefined;
  if (last.runId !== frame.runId || last.messageId !== frame.messageId) return undefined;
  return { ...frame, content: last.content + frame.content };
}

function sizeOf(frame: ReceivedFrame): number {
  const { content } = frame as { content?: unknown };
  return typeof content === 'string' ? content.length : JSON.stringify(frame).length;
}

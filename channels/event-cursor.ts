/**
 * Delivers a session's events in order, each once, from any place on: what was missed is read from the store
 * in pages, at the reader's pace, then live events go through as they come.
 */
import type { AgentEvent } from '../src/protocol/events.js';

export interface EventSink {
  write(event: AgentEvent): void;
  /** The reader has enough for now; `EventCursor.resume` is called when it has drained. */
  isFull(): boolean;
  /** Reading the store failed; nothing more comes. */
  fail(error: unknown): void;
  /** All that was stored is delivered; called each time the cursor turns from the store to live events. */
  caughtUp?(): void;
}

const pageSize = 500;

export class EventCursor {
  #after: number;
  #isBehind = false;
  #isScheduled = false;
  #isClosed = false;
  readonly #read: (after: number, limit: number) => AgentEvent[];
  readonly #accepts: (event: AgentEvent) => boolean;
  readonly #sink: EventSink;
  readonly #pausesLive: boolean;

  /** `pausesLive`: a full reader gets no live events; they are read from the store when it has drained. */
  constructor(options: {
    /** Events with an id up to this one are known already. */
    after: number;
    read: (after: number, limit: number) => AgentEvent[];
    /** The others are passed over. */
    accepts: (event: AgentEvent) => boolean;
    sink: EventSink;
    pausesLive: boolean;
  }) {
    this.#after = options.after;
    this.#read = options.read;
    this.#accepts = options.accepts;
    this.#sink = options.sink;
    this.#pausesLive = options.pausesLive;
  }

  /** A live event. While older ones are still to be read it is left to the store. */
  push(event: AgentEvent): void {
    if (this.#isClosed || this.#isBehind || event.id <= this.#after) return;
    this.#deliver(event);
    if (this.#pausesLive && this.#sink.isFull()) this.#isBehind = true;
  }

  /** Reads the store from where the cursor stands, the first page at once. */
  catchUp(): void {
    this.#isBehind = true;
    this.#readPage();
  }

  /** The reader has drained. */
  resume(): void {
    if (this.#isBehind && !this.#isScheduled) this.#readPage();
  }

  /** Id of the newest event delivered or passed over. */
  get position(): number {
    return this.#after;
  }

  close(): void {
    this.#isClosed = true;
  }

  #readPage(): void {
    this.#isScheduled = false;
    if (this.#isClosed) return;
    try {
      const page = this.#read(this.#after, pageSize);
      for (const event of page) {
        if (this.#isClosed) return;
        if (event.id > this.#after) this.#deliver(event);
        if (this.#sink.isFull()) return;
      }
      if (page.length < pageSize) {
        this.#isBehind = false;
        this.#sink.caughtUp?.();
        return;
      }
    } catch (error) {
      this.#isClosed = true;
      this.#sink.fail(error);
      return;
    }
    this.#isScheduled = true;
    setImmediate(() => this.#readPage());
  }

  #deliver(event: AgentEvent): void {
    this.#after = event.id;
    if (this.#accepts(event)) this.#sink.write(event);
  }
}

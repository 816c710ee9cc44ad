/** One message of ours and the frames that answer it, each delivered once, over as many connections as it takes. */
import { UserError } from '../protocol/errors.js';
import type { ClientFrame, TurnFrame } from '../protocol/frames.js';
import { FrameCursor } from './frame-cursor.js';
import { FrameQueue } from './frame-queue.js';
import { isTurnFrame, type ReceivedError } from './read-frames.js';

/** The frames of one answer; `error` comes before the `end` of a run that failed. */
export type AnswerFrame = TurnFrame | ReceivedError;

/**
 * Read it once. Ends after its `end` frame. Throws `UserError` when the server did not take the message, the reason of
 * the client's signal when that aborts. Whoever stops reading early leaves the run as it is.
 */
export interface ClientTurn extends AsyncIterable<AnswerFrame> {
  readonly sessionId: string;
  readonly messageId: string;
  /** Ends the run, at the latest when the connection is back. Its `end` still comes. */
  stop(): void;
}

/** Codes of refusals that pass: the daemon is starting or stopping, and keeps what it has stored. */
const passing: ReadonlySet<string> = new Set(['shutting_down', 'not_ready']);
/** Answers `stop` alone. */
export const nothingToStop = 'run_not_found';
/** Stands for the model of a run that tells of an end and nothing else. */
const noModel = 'none';

export class PendingTurn {
  readonly sessionId: string;
  readonly messageId: string;
  readonly text: string;
  readonly frames: FrameQueue<AnswerFrame>;
  /** The run that answers; undefined until its first frame came. */
  runId: string | undefined;
  readonly cursor = new FrameCursor();
  /** Sent on the connection that is open now. */
  isSent = false;
  isStopWanted = false;
  /** The daemon said that it goes on later; ends that come before are none. */
  #isPutOff = false;
  #isSentAnew = false;
  /** A run without a model that tells of this message's end. */
  #emptyRunId: string | undefined;

  constructor(options: { sessionId: string; messageId: string; text: string; onLeft: (turn: PendingTurn) => void }) {
    this.sessionId = options.sessionId;
    this.messageId = options.messageId;
    this.text = options.text;
    this.frames = new FrameQueue(() => options.onLeft(this));
  }

  get hasBegun(): boolean {
    return this.runId !== undefined;
  }

  /** The daemon refused it for now, before it began. */
  get isToBeSentAgain(): boolean {
    return this.#isPutOff && !this.hasBegun;
  }

  /** The connection was lost, or it is to be sent once more on this one. */
  reset(): void {
    this.isSent = false;
    this.#isPutOff = false;
  }

  /**
   * The daemon did not name the run in what it told: the message goes out again. It replays the run if it knows it
   * after all, and then what was delivered counts; another run (it has another database now) begins anew.
   */
  beginAnew(): void {
    this.#isSentAnew = true;
    this.cursor.resumeFrom(0);
  }

  textFrame(): ClientFrame {
    const { sessionId, messageId, text } = this;
    return { type: 'text', sessionId, messageId, content: { text } };
  }

  stopFrame(): ClientFrame {
    const { sessionId, messageId } = this;
    return { type: 'stop', sessionId, messageId };
  }

  isFor(frame: AnswerFrame): boolean {
    if (frame.sessionId !== undefined && frame.sessionId !== this.sessionId) return false;
    if (frame.messageId === this.messageId) return true;
    return frame.runId !== undefined && frame.runId === this.runId;
  }

  /** Returns `over` after the last frame, `later` when the message must be sent again after a while. */
  take(frame: AnswerFrame): 'going' | 'over' | 'later' {
    return isTurnFrame(frame) ? this.#takeTurnFrame(frame) : this.#takeError(frame);
  }

  #takeTurnFrame(frame: TurnFrame): 'going' | 'over' {
    if (this.#isSentAnew && frame.type === 'start') {
      this.#isSentAnew = false;
      if (frame.runId !== this.runId) this.cursor.restart(0);
    }
    if (this.#isPutOff) return 'going';
    if (frame.type === 'start' && frame.content.model === noModel) {
      this.#emptyRunId = frame.runId;
      return 'going';
    }
    // Frames of the middle, before the server has gone back to the beginning for us.
    if (!this.hasBegun && frame.type !== 'start' && frame.runId !== this.#emptyRunId) return 'going';
    this.runId = frame.runId;
    const news = this.cursor.take(frame);
    if (news) this.frames.push(news);
    if (news?.type !== 'end') return 'going';
    this.frames.end();
    return 'over';
  }

  #takeError(frame: ReceivedError): 'going' | 'over' | 'later' {
    const { code, message, details } = frame.content;
    if (code === nothingToStop || this.#isPutOff) return 'going';
    if (passing.has(code)) {
      this.#isPutOff = true;
      return this.hasBegun ? 'going' : 'later';
    }
    if (frame.runId !== undefined) {
      this.frames.push(frame);
      return 'going';
    }
    this.frames.fail(new UserError(code, message, { details }));
    return 'over';
  }
}

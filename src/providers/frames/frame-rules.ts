/** What one wire family's frames need before the SDK may read them. One object per response. */

export type Frame = Record<string, unknown>;

export interface FrameRules {
  /** A quick look at one line of the stream, without parsing: true when it can go through as it is. */
  passes(line: string): boolean;
  /** The frame to hand on, changed or not; undefined drops it. */
  rewrite(frame: Frame): Frame | undefined;
  /** What is to be added when the stream has ended. */
  end(): Frame[];
  /** A complete JSON answer that came instead of a stream, as frames; undefined when this family cannot do it. */
  fromAnswer(answer: Frame): Frame[] | undefined;
  /** A complete JSON answer, put right. */
  rewriteAnswer(answer: Frame): Frame;
}

export function isObject(value: unknown): value is Frame {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

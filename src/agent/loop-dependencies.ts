/** What the loop needs beside the run description. */

/** Where the crash harness may end the process; nothing happens there in production. */
export type Checkpoint =
  | 'before-model-call'
  /** After the first delta of a step. */
  | 'during-model-call'
  | 'after-model-call'
  | 'before-tool'
  /** The tool ended, its result is not yet yielded. */
  | 'after-tool';

export interface LoopDependencies {
  /** ms since the epoch. */
  now(): number;
  checkpoint(name: Checkpoint): void | Promise<void>;
  /** A tool threw something else than a `ToolError`: the model is told no more than that, so the log must have it. */
  reportBug(error: unknown, toolName: string): void;
}

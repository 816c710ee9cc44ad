/** A configuration that cannot be used, or a file of the home that cannot be read or written: all problems at once. */
import { CodedError } from '../protocol/errors.js';

export interface ConfigProblem {
  /** `channels.telegram.token`; empty for the file as a whole. */
  path: string;
  message: string;
  /** Place in the file, from 1; absent when the value does not come from it. */
  line?: number;
  column?: number;
}

export type ConfigErrorCode =
  | 'config_syntax' // not JSON: nothing was read, nothing will be written
  | 'config_invalid' // values that the schema refuses, unknown keys, unset variables
  | 'config_unreadable'
  | 'config_unwritable'
  | 'home_unwritable'
  | 'workspace_unwritable'
  | 'token_unreadable';

export class ConfigError extends CodedError {
  declare readonly code: ConfigErrorCode;
  readonly problems: readonly ConfigProblem[];

  constructor(code: ConfigErrorCode, message: string, options: ErrorOptions & { problems?: ConfigProblem[] } = {}) {
    const { problems, ...rest } = options;
    super(code, message, problems ? { ...rest, details: problems } : rest);
    this.problems = problems ?? [];
  }
}

/** One line for people: `gateway.port (line 3, column 5): …`. */
export function describeProblem(problem: ConfigProblem): string {
  const place = problem.line === undefined ? '' : ` (line ${problem.line}, column ${problem.column})`;
  return `${problem.path || 'the file'}${place}: ${problem.message}`;
}

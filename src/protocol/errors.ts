/** Errors with a stable code. Every kind that someone catches extends `CodedError`. */

export class CodedError extends Error {
  /** snake_case, never changes once published; see docs/errors.md. */
  readonly code: string;
  readonly details: unknown;

  constructor(code: string, message: string, options: ErrorOptions & { details?: unknown } = {}) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
    this.details = options.details;
  }
}

/** Something the user (a person or a client program) asked for cannot be done as asked. Shown without a stack. */
export class UserError extends CodedError {
  /** The HTTP status that says the same. */
  readonly status: number;

  constructor(code: string, message: string, options: ErrorOptions & { details?: unknown; status?: number } = {}) {
    super(code, message, options);
    this.status = options.status ?? 400;
  }
}

/** `{code, message}` for a frame, a response or a log. Errors without a code are our bugs: their text stays in the log. */
export function describeError(error: unknown): { code: string; message: string; details?: unknown } {
  if (error instanceof CodedError) {
    return error.details === undefined
      ? { code: error.code, message: error.message }
      : { code: error.code, message: error.message, details: error.details };
  }
  return { code: 'internal_error', message: 'Something went wrong inside PicoBot. The log has the details.' };
}

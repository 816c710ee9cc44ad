/** How a failed command says why. */
import { CodedError } from '../protocol/errors.js';

/** `error: message (code)` for what the user can mend; our own bugs with their stack, so that they can be reported. */
export function reportError(error: unknown): 1 {
  process.stderr.write(`${errorText(error)}\n`);
  return 1;
}

export function errorText(error: unknown): string {
  if (error instanceof CodedError) return `error: ${error.message} (${error.code})`;
  return `error: something went wrong inside PicoBot: ${error instanceof Error ? error.stack : String(error)}`;
}

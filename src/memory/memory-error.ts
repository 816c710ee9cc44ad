/** Why the memory refused: `secret_refused`, `memory_invalid`, `memory_full`, `memory_not_found`, `memory_ambiguous`, `memory_forbidden`. */
import { UserError } from '../protocol/errors.js';

const statuses = {
  secret_refused: 400,
  memory_invalid: 400,
  memory_full: 409,
  memory_not_found: 404,
  memory_ambiguous: 409,
  memory_forbidden: 403,
} as const;

export type MemoryErrorCode = keyof typeof statuses;

export class MemoryError extends UserError {
  constructor(code: MemoryErrorCode, message: string, options: ErrorOptions & { details?: unknown } = {}) {
    super(code, message, { ...options, status: statuses[code] });
  }
}

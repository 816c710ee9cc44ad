/** Reads JSON that came from outside. Everything wrong with it is a `UserError` that says where. */
import { isUtf8 } from 'node:buffer';
import type { z } from 'zod';
import { UserError } from './errors.js';

/** Deeper nesting than any honest message has; keeps recursive readers off the end of the stack. */
export const maxJsonDepth = 64;

/** Throws `invalid_utf8`, `invalid_json` or `json_too_deep`. */
export function readJsonBytes(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) throw new UserError('invalid_utf8', 'The body is not valid UTF-8. Send JSON encoded as UTF-8.');
  return readJson(new TextDecoder().decode(bytes));
}

/** Throws `invalid_json` or `json_too_deep`. */
export function readJson(text: string): unknown {
  if (isDeeperThan(text, maxJsonDepth)) {
    throw new UserError('json_too_deep', `The JSON is nested deeper than ${maxJsonDepth} levels.`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UserError('invalid_json', `This is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** The value as the schema reads it. Throws `invalid_request` with the path of every problem in `details`. */
export function checkShape<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  const text = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
  throw new UserError('invalid_request', text, { details: problems });
}

function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (isInString) {
      if (character === backslash) index += 1;
      else if (character === quote) isInString = false;
    } else if (character === quote) {
      isInString = true;
    } else if (character === openBracket || character === openBrace) {
      depth += 1;
      if (depth > limit) return true;
    } else if (character === closeBracket || character === closeBrace) {
      depth -= 1;
    }
  }
  return false;
}

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

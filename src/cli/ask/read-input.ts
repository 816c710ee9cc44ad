/** What is asked: the argument, then what comes through a pipe. */
import { UserError } from '../../protocol/errors.js';

/** In bytes. */
export const maxInputBytes = 1_000_000;
/** Somebody who gave an argument may not know that stdin is open. */
const hintAfterMs = 2000;

/** Throws `input_too_large`, `input_not_text`. `tell` gets a line for the person when stdin stays open. */
export async function readInput(
  argument: string | undefined,
  stdin: NodeJS.ReadableStream & { isTTY?: boolean },
  tell: (line: string) => void,
): Promise<string> {
  if (argument !== undefined && Buffer.byteLength(argument) > maxInputBytes) throw tooLarge();
  if (stdin.isTTY) return argument ?? '';
  const hint = setTimeout(
    () => tell('Waiting for the end of standard input; without a pipe, add: </dev/null'),
    hintAfterMs,
  );
  try {
    const piped = await readAll(stdin, () => clearTimeout(hint));
    return [argument, piped].filter((part) => part !== undefined && part.trim() !== '').join('\n\n');
  } finally {
    clearTimeout(hint);
  }
}

async function readAll(stdin: NodeJS.ReadableStream, onChunk: () => void): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    onChunk();
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Buffer);
    size += bytes.length;
    if (size > maxInputBytes) throw tooLarge();
    chunks.push(bytes);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    throw new UserError('input_not_text', 'What came through the pipe is not text in UTF-8.', { cause: error });
  }
}

function tooLarge(): UserError {
  return new UserError(
    'input_too_large',
    `The input is larger than ${maxInputBytes / 1_000_000} MB. Ask about a part of it, or put it into a file of the workspace.`,
  );
}

/** Lines of a pipe, read only as fast as they are answered. */
import { UserError } from '../../protocol/errors.js';

/** In UTF-16 code units. */
export const maxLineLength = 1_000_000;

/** Throws `input_too_large`. When the signal aborts, there are no more lines. */
export async function* readLines(
  input: NodeJS.ReadableStream & { destroy?: () => void },
  signal: AbortSignal,
): AsyncGenerator<string> {
  const leave = () => input.destroy?.();
  signal.addEventListener('abort', leave);
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for await (const chunk of input) {
      rest += typeof chunk === 'string' ? chunk : decoder.decode(chunk as Buffer, { stream: true });
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > maxLineLength) {
        throw new UserError('input_too_large', `A line is longer than ${maxLineLength} characters.`);
      }
      for (const line of lines) {
        if (signal.aborted) return;
        yield line.replace(/\r$/, '');
      }
    }
    if (rest !== '' && !signal.aborted) yield rest;
  } catch (error) {
    // Left in the middle of a read.
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

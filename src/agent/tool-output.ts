/** What a tool returned, made fit for the conversation: bounded, well-formed, never empty. */
import { cleanText, headOf, tailOf } from '../tools/clean-text.js';

/** UTF-16 units, the note included. */
export const maxOutputLength = 50_000;

const headLength = 38_000;
const tailLength = 11_500;

/** Too long an output keeps its head and its tail around a note of the true size. */
export function tidyOutput(output: string): string {
  if (output.trim() === '') return '(no output)';
  if (output.length <= maxOutputLength) return cleanText(output);
  const head = headOf(output, headLength);
  const tail = tailOf(output, tailLength);
  const leftOut = output.length - head.length - tail.length;
  return cleanText(
    `${head}\n\n[The output has ${output.length} characters; ${leftOut} in the middle are left out. Ask for a smaller part.]\n\n${tail}`,
  );
}

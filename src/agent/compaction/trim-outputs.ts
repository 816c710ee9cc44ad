/** Long tool outputs keep their head and tail; the whole stays readable by the call's id. */
import { headOf, tailOf } from '../../tools/clean-text.js';
import { changeTurn, type Draft, type Step, stepTokens, type ToolMessage, type Turn } from './draft.js';

/** UTF-16 units from which on an output counts as long. */
export const longOutputLength = 2000;

const headLength = 600;
const tailLength = 300;

export interface Trimmed {
  name: string;
  length: number;
}

/** Of each turn all steps but the last `keep`. `canRead`: the model has the tool that reads results by id. */
export function trimOutputs(
  draft: Draft,
  turns: readonly Turn[],
  { keep = 0, canRead }: { keep?: number; canRead: boolean },
): Trimmed[] {
  const trimmed: Trimmed[] = [];
  for (const turn of turns) {
    let last = -1;
    const until = turn.steps.length - keep;
    const steps = turn.steps.map((step, index): Step => {
      if (index >= until || !step.results.some(isLong)) return step;
      const results = step.results.map((result) => (isLong(result) ? trimOutput(result, canRead) : result));
      const tokens = stepTokens(draft.estimator, { ...step, results });
      // Repetitive text can cost less than the words about it.
      if (tokens >= step.tokens) return step;
      trimmed.push(...step.results.filter(isLong).map(({ name, output }) => ({ name, length: output.length })));
      last = step.last;
      return { ...step, results, tokens };
    });
    if (last !== -1) changeTurn(draft, turn, { steps }, last);
  }
  return trimmed;
}

/** How the model gets at the whole of an output that it sees in part. */
export function referenceTo(callId: string, canRead: boolean): string {
  return canRead ? ` The whole: tool_result_read, call_id ${JSON.stringify(callId)}.` : '';
}

function isLong({ output }: ToolMessage): boolean {
  return output.length >= longOutputLength;
}

function trimOutput(result: ToolMessage, canRead: boolean): ToolMessage {
  const head = headOf(result.output, headLength);
  const tail = tailOf(result.output, tailLength);
  const { length } = result.output;
  const leftOut = length - head.length - tail.length;
  const note = `[${length} characters; ${leftOut} in the middle are left out.${referenceTo(result.callId, canRead)}]`;
  return { ...result, output: `${head}\n\n${note}\n\n${tail}` };
}

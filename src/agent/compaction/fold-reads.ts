/** Of several reads of the same thing only the newest keeps its text: the older ones are out of date or the same. */
import { changeTurn, type Draft, type Step, stepTokens } from './draft.js';
import { referenceTo } from './trim-outputs.js';

/** Shorter outputs are not worth a note. */
const minFoldedLength = 400;

/** `file_read`, `read_file`, `mcp_files_read_text_file`, `view`; a tool that acts may well be called twice. */
const readToolName = /(^|_)(read|view|cat)(_|$)/;

/** Returns how many were folded. Same tool and same arguments; failed reads neither fold nor are folded. */
export function foldRepeatedReads(draft: Draft, { canRead }: { canRead: boolean }): number {
  /** Call ids of the newest read by what was read. */
  const newest = new Map<string, string>();
  let count = 0;
  for (const turn of draft.turns.toReversed()) {
    let last = -1;
    const steps = turn.steps.toReversed().map((step): Step => {
      const results = step.results.toReversed().map((result) => {
        const key = readKey(step, result.callId);
        if (key === undefined || result.isError) return result;
        const newer = newest.get(key);
        if (newer === undefined) newest.set(key, result.callId);
        if (newer === undefined || result.output.length < minFoldedLength) return result;
        return { ...result, output: foldedNote(result.output.length, newer, result.callId, canRead) };
      });
      results.reverse();
      const folded = results.filter((result, index) => result !== step.results[index]).length;
      if (folded === 0) return step;
      const tokens = stepTokens(draft.estimator, { ...step, results });
      if (tokens >= step.tokens) return step;
      count += folded;
      last = Math.max(last, step.last);
      return { ...step, results, tokens };
    });
    if (last !== -1) changeTurn(draft, turn, { steps: steps.toReversed() }, last);
  }
  return count;
}

function readKey({ assistant }: Step, callId: string): string | undefined {
  const call = assistant.toolCalls.find((candidate) => candidate.callId === callId);
  if (!call || !readToolName.test(call.name) || call.invalid !== undefined) return undefined;
  const input = call.input;
  if (typeof input !== 'object' || input === null) return undefined;
  const fields = Object.entries(input)
    .map(([key, value]) => [key, typeof value === 'string' ? value.replace(/^(\.\/)+/, '') : value])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
  return JSON.stringify([call.name, fields]);
}

function foldedNote(length: number, newer: string, callId: string, canRead: boolean): string {
  const place = `see the result of call ${JSON.stringify(newer)}; ${length} characters are left out here.`;
  return `[Read again later: ${place}${referenceTo(callId, canRead)}]`;
}

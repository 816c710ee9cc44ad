/** `tool_result_read`: the whole of a tool's output that the conversation holds in part only, in pages. */
import { z } from 'zod';
import { cleanText, headOf } from './clean-text.js';
import { defineTool, ToolError } from './tool.js';

/** What this tool needs of the transcript. */
export interface ToolResultAccess {
  /** The output of the newest call with this id in the session; undefined when there is none. */
  readResult(sessionId: string, callId: string): string | undefined;
}

const defaultLength = 8000;
const maxLength = 20_000;

/** Characters are UTF-16 units, counted from 1; no page begins or ends inside a character. */
export function toolResultReadTool(transcript: ToolResultAccess) {
  return defineTool({
    name: 'tool_result_read',
    description: 'Read a tool output of this dialog that was shortened, in pages, by the id of its call.',
    input: z.strictObject({
      call_id: z.string().min(1).max(256).describe('as the shortened output says'),
      first_character: z.int().min(1).default(1),
      length: z.int().min(1).max(maxLength).default(defaultLength),
    }),
    isReadOnly: true,
    async run({ call_id: callId, first_character: firstCharacter, length }, { sessionId }) {
      const output = transcript.readResult(sessionId, callId);
      if (output === undefined) {
        throw new ToolError(`There is no result of a call "${callId}" in this dialog. Take the id from the note.`);
      }
      if (firstCharacter > Math.max(1, output.length)) {
        throw new ToolError(`The output has ${output.length} characters; first_character is ${firstCharacter}.`);
      }
      return pageOf(output, firstCharacter, length);
    },
  });
}

function pageOf(output: string, firstCharacter: number, length: number): string {
  const start = headOf(output, firstCharacter - 1).length;
  const rest = output.slice(start);
  // One unit more where a page of one would hold half a character.
  const page = headOf(rest, length) || headOf(rest, length + 1);
  const end = start + page.length;
  const place = `characters ${start + 1} to ${end} of ${output.length}`;
  const note = end < output.length ? `[${place}. Read on with first_character: ${end + 1}.]` : `[${place}: the end.]`;
  return start === 0 && end === output.length ? cleanText(output) : cleanText(`${page}\n${note}`);
}

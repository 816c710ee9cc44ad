/** Decides whether a call can run at all; what cannot gets a text that helps the model to do better. */
import type { AssistantToolCall } from '../protocol/events.js';
import type { ModelEndReason } from '../providers/model.js';
import type { ToolRegistry } from '../tools/registry.js';
import type { Tool } from '../tools/tool.js';

export type PreparedCall = { call: AssistantToolCall } & ({ tool: Tool; input: unknown } | { problem: string });

const maxIssues = 8;

export function prepareCall(call: AssistantToolCall, registry: ToolRegistry, endReason: ModelEndReason): PreparedCall {
  if (endReason === 'length') {
    return {
      call,
      problem: 'Not run: your message was cut off at the output limit. Send the call again, shorter or in parts.',
    };
  }
  const tool = registry.find(call.name);
  if (!tool) {
    const names = registry.names();
    const known = names.length > 0 ? `The tools are: ${names.join(', ')}.` : 'There are no tools here.';
    return { call, problem: `There is no tool called "${call.name}". ${known}` };
  }
  if (call.invalid !== undefined) {
    return { call, problem: `The arguments are not valid JSON: ${call.invalid} Nothing ran. Send the call again.` };
  }
  const parsed = tool.input.safeParse(call.input);
  if (parsed.success) return { call, tool, input: parsed.data };
  const issues = parsed.error.issues.slice(0, maxIssues).map(({ path, message }) => {
    return path.length === 0 ? `- ${message}` : `- ${path.join('.')}: ${message}`;
  });
  const problem = `The arguments of ${tool.name} are not right; nothing ran. Correct them and call again:\n${issues.join('\n')}`;
  return { call, problem };
}

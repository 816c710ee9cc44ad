/** Chat completions: frames without choices, tool calls in any shape, a whole answer instead of a stream. */
import { createToolCallAssembler } from './chat-tool-calls.js';
import { type Frame, type FrameRules, isObject } from './frame-rules.js';

const needsWork = /"(tool_calls|error|base_resp)"\s*:/;
const hasChoices = /"choices"\s*:\s*\[/;

export function chatFrameRules(): FrameRules {
  const calls = createToolCallAssembler();
  return {
    passes: (line) => hasChoices.test(line) && !needsWork.test(line),
    rewrite(frame) {
      const choices = Array.isArray(frame.choices) ? frame.choices : [];
      const choice: unknown = choices[0];
      if (isObject(choice) && isObject(choice.delta) && 'tool_calls' in choice.delta) {
        const { tool_calls: deltas, ...delta } = choice.delta;
        calls.add(deltas);
        return { ...frame, choices: [{ ...choice, delta }] };
      }
      return { ...frame, choices };
    },
    end: () => (calls.isEmpty ? [] : [{ choices: [{ index: 0, delta: { tool_calls: calls.finish() } }] }]),
    fromAnswer(answer) {
      const { choices, usage } = rewriteAnswer(answer);
      const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
      if (!isObject(choice) || !isObject(choice.message)) return undefined;
      const { role: _role, ...delta } = choice.message;
      return [{ choices: [{ index: 0, delta, finish_reason: choice.finish_reason ?? 'stop' }], usage }];
    },
    rewriteAnswer,
  };
}

function rewriteAnswer(answer: Frame): Frame {
  const choice: unknown = Array.isArray(answer.choices) ? answer.choices[0] : undefined;
  if (!isObject(choice) || !isObject(choice.message) || !Array.isArray(choice.message.tool_calls)) return answer;
  const calls = createToolCallAssembler({ isWhole: true });
  calls.add(choice.message.tool_calls);
  return { ...answer, choices: [{ ...choice, message: { ...choice.message, tool_calls: calls.finish() } }] };
}

/** OpenAI responses: arguments as objects, and fields that other servers leave out. */
import { type Frame, type FrameRules, isObject } from './frame-rules.js';

const needsWork =
  /"(error|base_resp)"\s*:\s*[^n\s]|"(arguments|sequence_number)"\s*:\s*[{[n]|"type": ?"(error|response\.(failed|created|output_item\.\w+))"/;

export function responseFrameRules(): FrameRules {
  return {
    passes: (line) => !needsWork.test(line),
    rewrite(frame) {
      if (isObject(frame.item)) return { ...frame, item: withTextArguments(frame.item) };
      if (frame.type === 'response.created' && isObject(frame.response)) {
        return { ...frame, response: { id: '', created_at: 0, model: '', ...frame.response } };
      }
      return frame.type === 'response.failed' ? { sequence_number: 0, ...frame } : frame;
    },
    end: () => [],
    fromAnswer: () => undefined,
    rewriteAnswer(answer) {
      if (!Array.isArray(answer.output)) return answer;
      return { ...answer, output: answer.output.map((item) => (isObject(item) ? withTextArguments(item) : item)) };
    },
  };
}

function withTextArguments(item: Frame): Frame {
  if (item.type !== 'function_call') return item;
  const { arguments: value } = item;
  return {
    status: 'completed',
    id: item.call_id,
    ...item,
    arguments: typeof value === 'string' ? value : JSON.stringify(value ?? {}),
  };
}

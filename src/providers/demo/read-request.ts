/** What the demo model looks at: the newest message of the person, and the results that came after it. */
import type { ModelMessage, ModelRequest } from '../model.js';

export interface DemoRequest {
  /** As the person typed it: without the program's context block and speaker line. */
  text: string;
  /** Recalled memories of the context block, as `key: content`. */
  memories: { key: string; content: string }[];
  /** Results of this turn's calls, oldest first; answered already when empty. */
  results: { name: string; input: Record<string, unknown>; output: string; isError: boolean }[];
  isChinese: boolean;
  /** Nothing was said before, or the person greets. */
  isGreeting: boolean;
}

const contextBlock = /<context>([\s\S]*?)<\/context>/g;
const greeting = /^(?:hello|hi|hey|good (?:morning|evening)|你好|您好|嗨|早上好|晚上好)(?:$|[\s,.!，。！])/i;
const speakerLine = /^\[speaker [^\]]*\]\s*/gm;

export function readRequest({ messages }: Pick<ModelRequest, 'messages'>): DemoRequest {
  const start = messages.findLastIndex((message) => message.role === 'user');
  const raw = start === -1 ? '' : textOf(messages[start]!);
  const text = raw.replace(contextBlock, '').replace(speakerLine, '').trim();
  const context = [...raw.matchAll(contextBlock)].map((match) => match[1]).join('\n');
  return {
    text,
    memories: memoriesOf(context),
    results: resultsOf(messages.slice(start + 1)),
    isChinese: /\p{Script=Han}/u.test(text),
    isGreeting:
      greeting.test(text) || !messages.slice(0, Math.max(start, 0)).some((message) => message.role === 'assistant'),
  };
}

function textOf(message: ModelMessage): string {
  if (message.role !== 'user') return '';
  return message.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

function memoriesOf(context: string): DemoRequest['memories'] {
  return [...context.matchAll(/^- ([^:\n]+): (.+)$/gm)].map((match) => ({ key: match[1]!, content: match[2]! }));
}

function resultsOf(messages: readonly ModelMessage[]): DemoRequest['results'] {
  const calls = new Map<string, Record<string, unknown>>();
  const results: DemoRequest['results'] = [];
  for (const message of messages) {
    if (message.role === 'assistant') {
      for (const call of message.toolCalls) calls.set(call.callId, (call.input ?? {}) as Record<string, unknown>);
    } else if (message.role === 'tool') {
      const { name, output, isError, callId } = message;
      results.push({ name, input: calls.get(callId) ?? {}, output, isError });
    }
  }
  return results;
}

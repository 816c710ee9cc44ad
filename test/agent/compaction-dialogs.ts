/** Dialogs to compact, and what two wires say about the outcome. */
import type { CompactionInput } from '../../src/agent/compaction/compact.js';
import type { Entry } from '../../src/agent/conversation.js';
import type { ModelMessage } from '../../src/providers/model.js';
import { families } from '../fakes/llm-server/families.mjs';

export const user = (text: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text }] });
export const says = (text: string): ModelMessage => ({ role: 'assistant', text, toolCalls: [] });
export const calls = (callIds: string[], text = '', name = 'lookup'): ModelMessage => ({
  role: 'assistant',
  text,
  toolCalls: callIds.map((callId) => ({ callId, name, input: { of: callId } })),
});
export const reads = (callId: string, path: string, more: object = {}): ModelMessage => ({
  role: 'assistant',
  text: '',
  toolCalls: [{ callId, name: 'file_read', input: { path, ...more } }],
});
export const returns = (callId: string, output: string, name = 'lookup'): ModelMessage => ({
  role: 'tool',
  callId,
  name,
  output,
  isError: false,
});

const wordList = 'the order came late because two boxes were lost near the harbour and nobody called before noon'.split(
  ' ',
);
const someWords = Array.from({ length: 20_000 }, (_, index) => wordList[(index * 7) % wordList.length]);

/** Ordinary words, so that tokens and characters have their usual proportion. */
export function words(count: number, seed = 1): string {
  return someWords.slice(seed, seed + count).join(' ');
}

/** Event ids as they are in storage: rising, with gaps. */
export function entriesOf(messages: readonly ModelMessage[], firstId = 1): Entry[] {
  return messages.map((message, index) => ({ eventId: firstId + index * 3, message }));
}

export function inputOf(messages: readonly ModelMessage[], more: Partial<CompactionInput> = {}): CompactionInput {
  return {
    entries: entriesOf(messages),
    system: 'You are a helpful assistant.',
    tools: [{ name: 'tool_result_read', description: 'Reads a result.', inputSchema: { type: 'object' } }],
    reason: 'size',
    contextWindow: 10_000,
    compactAt: 0.7,
    hardTrimAt: 0.9,
    summarise: async () => 'A short summary of what was done.',
    ...more,
  };
}

/** The whole conversation after a compaction, as the next request has it. */
export function afterwards(
  entries: readonly Entry[],
  result: { to: number; messages: ModelMessage[] },
): ModelMessage[] {
  return [...result.messages, ...entries.filter(({ eventId }) => eventId > result.to).map(({ message }) => message)];
}

/** What was pending stays pending: the loop gives each call its result before it asks again. */
export function withResults(messages: readonly ModelMessage[]): ModelMessage[] {
  const last = messages.findLastIndex((message) => message.role === 'assistant');
  const assistant = messages[last];
  if (assistant?.role !== 'assistant') return [...messages];
  const present = new Set(messages.slice(last).flatMap((message) => (message.role === 'tool' ? [message.callId] : [])));
  const missing = assistant.toolCalls.filter(({ callId }) => !present.has(callId));
  return [...messages, ...missing.map(({ callId, name }) => returns(callId, 'late result', name))];
}

/** The complaints of strict chat-completions and messages servers, and of templates that want the roles to alternate. */
export function complaintsOf(messages: readonly ModelMessage[]): string[] {
  const complaints = [
    families.openai.validate({ model: 'm', messages: messages.map(toChat) }),
    families.anthropic.validate({
      model: 'm',
      max_tokens: 9,
      messages: [...messages.map(toBlocks), ...asking(messages)],
    }),
  ];
  if (messages[0]?.role !== 'user') complaints.push('does not start with the user');
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1];
    const isDoubled = message.role === 'assistant' && before?.role === 'assistant';
    if (isDoubled) complaints.push(`two assistant messages in a row at ${index}`);
    // A result belongs to the calls right before it, in their order.
    if (message.role === 'assistant') {
      const ids = message.toolCalls.map((call) => call.callId);
      const next = messages.slice(index + 1, index + 1 + ids.length);
      const answered = next.map((result) => (result.role === 'tool' ? result.callId : '?'));
      if (ids.join() !== answered.join()) complaints.push(`results out of order at ${index}`);
    }
  }
  const text = JSON.stringify(messages);
  if (/\\ud[89ab]..(?!\\ud[c-f]..)/i.test(text) || /[\ud800-\udbff](?![\udc00-\udfff])/.test(text)) {
    complaints.push('half a character');
  }
  return complaints.filter((complaint) => complaint !== undefined);
}

/** Texts of people's messages, without what stands behind them. */
export function userTexts(messages: readonly ModelMessage[]): string[] {
  return messages.flatMap((message) =>
    message.role === 'user' ? message.content.map((part) => (part.type === 'text' ? part.text : part.mimeType)) : [],
  );
}

/** A conversation that ends with an answer is asked on. */
function asking(messages: readonly ModelMessage[]): object[] {
  return messages.at(-1)?.role === 'assistant' ? [{ role: 'user', content: 'next' }] : [];
}

function toChat(message: ModelMessage): object {
  switch (message.role) {
    case 'user':
      return {
        role: 'user',
        content: message.content.map((part) =>
          part.type === 'text' ? part : { type: 'image_url', image_url: { url: part.dataUrl } },
        ),
      };
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.output };
    case 'assistant': {
      const tool_calls = message.toolCalls.map(({ callId, name, input }) => ({
        id: callId,
        type: 'function',
        function: { name, arguments: JSON.stringify(input) },
      }));
      return { role: 'assistant', content: message.text, ...(tool_calls.length > 0 && { tool_calls }) };
    }
  }
}

function toBlocks(message: ModelMessage): object {
  switch (message.role) {
    case 'user':
      return {
        role: 'user',
        content: message.content.map((part) =>
          part.type === 'text' ? part : { type: 'image', source: { type: 'base64', data: part.dataUrl } },
        ),
      };
    case 'tool':
      return { role: 'user', content: [{ type: 'tool_result', tool_use_id: message.callId, content: message.output }] };
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...(message.text === '' ? [] : [{ type: 'text', text: message.text }]),
          ...message.toolCalls.map(({ callId, name, input }) => ({ type: 'tool_use', id: callId, name, input })),
        ],
      };
  }
}

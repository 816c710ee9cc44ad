/** The built-in model: no key, no network, the same interface. It greets, says what it is, and uses a few tools. */
import { newId } from '../../protocol/ids.js';
import type { Model, ModelEvent, ModelRequest, ToolSpec } from '../model.js';
import { answerFor } from './answers.js';
import { asksAboutMemory, type DemoCall, findCall } from './intents.js';
import { type DemoRequest, readRequest } from './read-request.js';

export const demoReference = 'demo/demo';

export function createDemoModel(): Model {
  return {
    id: demoReference,
    async *stream(request, signal) {
      signal.throwIfAborted();
      for (const event of reply(request)) {
        yield event;
        // Lets an abort in: a consumer that never waits would otherwise see the whole answer first.
        await Promise.resolve();
        signal.throwIfAborted();
      }
    },
  };
}

function* reply(request: ModelRequest): Generator<ModelEvent> {
  const demo = readRequest(request);
  const isAboutMemory = asksAboutMemory(demo.text);
  const call = demo.results.length === 0 ? callFor(demo, isAboutMemory, request.tools) : undefined;
  if (call) {
    yield { type: 'tool-call', callId: newId('call'), ...call };
    yield { type: 'end', reason: 'tool-calls', usage: {}, model: demoReference };
    return;
  }
  for (const word of words(answerFor(demo, isAboutMemory))) yield { type: 'text-delta', text: word };
  yield { type: 'end', reason: 'stop', usage: {}, model: demoReference };
}

function callFor(demo: DemoRequest, isAboutMemory: boolean, tools: readonly ToolSpec[]): DemoCall | undefined {
  const call = findCall(demo.text, tools);
  if (call || !isAboutMemory || demo.memories.length > 0) return call;
  const canRecall = tools.some(({ name }) => name === 'memory_recall');
  return canRecall ? { name: 'memory_recall', input: { query: demo.text } } : undefined;
}

/** Word by word; Chinese in groups of a few characters. */
function words(text: string): string[] {
  return text.match(/\p{Script=Han}{1,3}\s*|[^\s\p{Script=Han}]+\s*|\s+/gu) ?? [];
}

/** Sees a run going in circles: the same calls with the same results, step after step. */
import { createHash } from 'node:crypto';
import type { ModelMessage } from '../providers/model.js';

export interface CallRecord {
  name: string;
  input: unknown;
  output: string;
}

export interface ProgressGuard {
  /** One step's calls with their results, in call order. */
  record(calls: CallRecord[]): void;
  /** The last steps are one block of steps repeated three times. */
  isStuck(): boolean;
}

const repeats = 3;
const maxBlockSteps = 12;

export function createProgressGuard(): ProgressGuard {
  const steps: string[] = [];
  return {
    record(calls) {
      const hash = createHash('sha1');
      for (const { name, input, output } of calls) hash.update(JSON.stringify([name, input, output]));
      steps.push(hash.digest('base64'));
      if (steps.length > repeats * maxBlockSteps) steps.shift();
    },
    isStuck() {
      for (let block = 1; block * repeats <= steps.length; block += 1) {
        const recent = steps.slice(-block * repeats);
        if (recent.every((step, index) => step === recent[index % block])) return true;
      }
      return false;
    },
  };
}

/** The steps that an earlier attempt left at the end of the conversation. */
export function recordEarlierSteps(guard: ProgressGuard, messages: readonly ModelMessage[]): void {
  const start = messages.findLastIndex((message) => message.role === 'user') + 1;
  const outputs = new Map<string, string>();
  for (const message of messages.slice(start)) {
    if (message.role === 'tool') outputs.set(message.callId, message.output);
  }
  for (const message of messages.slice(start)) {
    if (message.role !== 'assistant' || message.toolCalls.length === 0) continue;
    guard.record(
      message.toolCalls.map((call) => ({
        name: call.name,
        input: call.input,
        output: outputs.get(call.callId) ?? '',
      })),
    );
  }
}

/** Remembers the inputs of tool calls until their results come, for one follower. */
import type { ControlChannel } from '../../src/protocol/control.js';
import type { AgentEvent } from '../../src/protocol/events.js';
import type { RunWatch } from '../run-watch.js';
import type { FindInput } from './encode.js';

export interface ToolInputs {
  see(event: AgentEvent): void;
  find: FindInput;
}

/** Messages searched for a call that began before the follower did. */
const searchedMessages = 50;

export function createToolInputs(control: ControlChannel, watch: RunWatch): ToolInputs {
  const seen = new Map<string, unknown>();
  return {
    see(event) {
      if (event.type === 'tool-call') seen.set(event.callId, event.input);
    },
    find({ callId, runId, sessionId, id }) {
      const input = seen.get(callId) ?? watch.activeRun(runId)?.toolInputs.get(callId);
      seen.delete(callId);
      if (input !== undefined) return input;
      const messages = control.messages(sessionId, { before: id, limit: searchedMessages });
      return messages.flatMap((message) => message.toolCalls ?? []).find((call) => call.callId === callId)?.input;
    },
  };
}

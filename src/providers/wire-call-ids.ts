/**
 * Call ids as a wire takes them. Anthropic and Responses allow few characters and no id twice; ids made by another
 * platform break both rules. Chat completions get them back as they were.
 */
import type { WireFamily } from './wire-types.js';

const maxLength = 64;

export interface WireCallIds {
  /** For a call; to be asked in the order of the conversation. */
  call(callId: string): string;
  /** For a result: the latest call with this id. */
  result(callId: string): string;
}

export function wireCallIds(family: WireFamily): WireCallIds {
  if (family === 'openai') return { call: (callId) => callId, result: (callId) => callId };
  const taken = new Set<string>();
  const latest = new Map<string, string>();
  return {
    call(callId) {
      const plain = callId.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, maxLength - 6) || 'call';
      let id = plain;
      for (let number = 2; taken.has(id); number++) id = `${plain}_${number}`;
      taken.add(id);
      latest.set(callId, id);
      return id;
    },
    result: (callId) => latest.get(callId) ?? callId,
  };
}

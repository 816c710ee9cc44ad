/** How large a request is in tokens: an estimate, corrected by what the provider counted for the last request. */
import type { Usage } from '../protocol/events.js';
import type { ModelMessage, ModelRequest } from '../providers/model.js';
import { estimateTokens } from './estimate-tokens.js';

/** Replaceable by an exact tokenizer. */
export interface TokenEstimator {
  /** Tokens of the text alone; a call costs time in proportion to its length. */
  estimate(text: string): number;
}

export const builtInEstimator: TokenEstimator = { estimate: estimateTokens };

export type MeasuredRequest = Pick<ModelRequest, 'system' | 'tools'> & { messages: readonly ModelMessage[] };

/** A picture or file, whatever its size: platforms scale them down. */
const mediaTokens = 1500;
/** What frames a message, a call, a tool on the wire. */
const frameTokens = 4;

export function estimateRequest(estimator: TokenEstimator, request: MeasuredRequest): number {
  return request.messages.reduce(
    (sum, message) => sum + estimateMessage(estimator, message),
    estimatePrefix(estimator, request),
  );
}

/** System prompt and tools: what goes with every request. */
export function estimatePrefix(estimator: TokenEstimator, request: Omit<MeasuredRequest, 'messages'>): number {
  const tools = request.tools.map(({ name, description, inputSchema }) => [name, description, inputSchema]);
  return estimator.estimate(request.system) + (tools.length > 0 ? estimator.estimate(JSON.stringify(tools)) : 0);
}

export function estimateMessage(estimator: TokenEstimator, message: ModelMessage): number {
  switch (message.role) {
    case 'user':
      return message.content.reduce(
        (sum, part) => sum + (part.type === 'text' ? estimator.estimate(part.text) : mediaTokens),
        frameTokens,
      );
    case 'tool':
      return 2 * frameTokens + estimator.estimate(message.output);
    case 'assistant': {
      let sum = frameTokens + estimator.estimate(message.text);
      for (const part of message.reasoning ?? []) sum += estimator.estimate(part.text);
      for (const { name, input } of message.toolCalls) {
        sum += 2 * frameTokens + estimator.estimate(name) + estimator.estimate(JSON.stringify(input) ?? '');
      }
      return sum;
    }
  }
}

export interface TokenMeter {
  /** Tokens of a request that is about to be sent. A message that was measured before costs nothing again. */
  measure(request: MeasuredRequest): number;
  /** What the provider counted for the request that was measured last. Usage without `inputTokens` changes nothing. */
  record(usage: Usage): void;
  /** The estimate brought to the provider's scale, for what is not sent yet, such as a compacted conversation. */
  readonly estimator: TokenEstimator;
}

interface Measured {
  estimated: number;
  messageCount: number;
}

/** Counts that are off by more than this factor are a platform's mistake. */
const maxFactor = 3;

/** One for each conversation. */
export function createTokenMeter(base: TokenEstimator = builtInEstimator): TokenMeter {
  const known = new WeakMap<ModelMessage, number>();
  let prefix: { system: string; tools: MeasuredRequest['tools']; tokens: number } | undefined;
  let last: Measured | undefined;
  let anchor: (Measured & { counted: number; outputTokens: number | undefined }) | undefined;

  const tokensOf = (message: ModelMessage): number => {
    let tokens = known.get(message);
    if (tokens === undefined) {
      tokens = estimateMessage(base, message);
      known.set(message, tokens);
    }
    return tokens;
  };
  const factor = () => (anchor ? anchor.counted / anchor.estimated : 1);

  return {
    measure({ system, tools, messages }) {
      if (prefix?.system !== system || prefix.tools !== tools) {
        prefix = { system, tools, tokens: estimatePrefix(base, { system, tools }) };
      }
      const estimated = messages.reduce((sum, message) => sum + tokensOf(message), prefix.tokens);
      last = { estimated, messageCount: messages.length };
      if (!anchor) return estimated;
      // Another conversation than the one that was counted: it was compacted or changed.
      if (estimated < anchor.estimated || messages.length < anchor.messageCount) {
        return Math.ceil(estimated * factor());
      }
      const answer = messages[anchor.messageCount];
      const correction =
        answer?.role === 'assistant' && anchor.outputTokens !== undefined
          ? anchor.outputTokens + reasoningTokens(base, answer) - tokensOf(answer)
          : 0;
      return Math.max(anchor.counted, anchor.counted + estimated - anchor.estimated + correction);
    },
    record({ inputTokens, outputTokens, reasoningTokens }) {
      if (!last || inputTokens === undefined) return;
      if (inputTokens * maxFactor < last.estimated || inputTokens > last.estimated * maxFactor) return;
      // Reasoning is sent back only in part; what is kept of it stands in the message and is estimated there.
      const said = outputTokens === undefined ? undefined : Math.max(0, outputTokens - (reasoningTokens ?? 0));
      anchor = { ...last, counted: inputTokens, outputTokens: said };
    },
    estimator: { estimate: (text) => Math.ceil(base.estimate(text) * factor()) },
  };
}

function reasoningTokens(estimator: TokenEstimator, message: Extract<ModelMessage, { role: 'assistant' }>): number {
  return (message.reasoning ?? []).reduce((sum, part) => sum + estimator.estimate(part.text), 0);
}

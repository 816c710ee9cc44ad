/**
 * Makes a conversation smaller: long tool outputs first, then summaries, then leaving turns out.
 * The attempts are bounded, nothing is stored here, and what comes out is a valid conversation or the reason for none.
 */
import type { ModelMessage, ToolSpec } from '../../providers/model.js';
import type { Entry } from '../conversation.js';
import { builtInEstimator, type TokenEstimator } from '../tokens.js';
import { type Stretch, sectionOf } from './condense.js';
import { createSummariser, type Summarise } from './create-summariser.js';
import { createDraft, type Draft, isOpen, replacementOf, type Turn } from './draft.js';
import { foldRepeatedReads } from './fold-reads.js';
import { hardTrim } from './hard-trim.js';
import { readableSummary } from './readable-summary.js';
import { type CompactionReason, type ContextLimits, compactionGoals } from './should-compact.js';
import { expectedGain, isWorthSummarising, type Summary, summariseStretches } from './summarise-turns.js';
import { type Trimmed, trimOutputs } from './trim-outputs.js';

export interface CompactionInput extends ContextLimits {
  /** The whole conversation as the model gets it, in order; see `toEntries`. Events that share an id are never cut apart. */
  entries: readonly Entry[];
  system: string;
  tools: readonly ToolSpec[];
  reason: CompactionReason;
  /** Tokens of the request at which shortening may stop; by default 60 % of what `compactAt` allows. */
  target?: number;
  summarise: Summarise;
  /** For one call of `summarise`, in ms. Default 60,000. */
  summariseTimeoutMs?: number;
  /** Calls of `summarise`; default 3. */
  maxRounds?: number;
  /** The newest turns that are shortened only when nothing else helps; default 3, at least 1. */
  keepRecentTurns?: number;
  /** Default: the built-in estimate. */
  estimator?: TokenEstimator;
  reportFailure?: (error: unknown) => void;
}

export interface CompactionResult {
  kind: 'compacted';
  /** `messages` stand for every event up to this id; the events behind it follow unchanged. */
  to: number;
  messages: ModelMessage[];
  /** For people, at most 8,000 UTF-16 units. */
  summary: string;
  tokensBefore: number;
  /** Always less than before. */
  tokensAfter: number;
  /** The strongest means that were used. */
  method: 'trim' | 'summary' | 'deterministic' | 'hard-trim';
}

export type CompactionOutcome =
  | CompactionResult
  /** Nothing, or too little, can be taken away; the conversation may be used as it is. */
  | { kind: 'unchanged' }
  /** What can never be taken away is too large: mostly one huge newest message. Both in tokens. */
  | { kind: 'too-large'; least: number; limit: number };

/** Steps of the newest turn that stay whole as long as possible. */
const keptSteps = 3;

/** Throws the signal's reason when it aborts, and for bugs. Calls `summarise` at most `maxRounds` times. */
export async function compact(input: CompactionInput, signal: AbortSignal): Promise<CompactionOutcome> {
  signal.throwIfAborted();
  const { entries, reason, estimator = builtInEstimator } = input;
  const draft = createDraft(entries, { system: input.system, tools: [...input.tools] }, estimator);
  const before = draft.tokens;
  const goals = compactionGoals(before, reason, input);
  if (draft.leastTokens > goals.acceptable) {
    return { kind: 'too-large', least: draft.leastTokens, limit: Math.floor(goals.acceptable) };
  }
  if (draft.turns.length === 0 || (reason === 'size' && before <= goals.target)) return { kind: 'unchanged' };

  const canRead = input.tools.some((tool) => tool.name === 'tool_result_read');
  const recentCount = Math.max(1, input.keepRecentTurns ?? 3);
  const older = draft.turns.slice(0, -recentCount);
  const recent = draft.turns.slice(-recentCount);
  const foldedReads = foldRepeatedReads(draft, { canRead });
  const trimmed = trimOutputs(draft, older, { canRead });

  const stretches = stretchesOf(draft, older);
  const gain =
    before - draft.tokens + expectedGain([...stretches, ...stretchesOf(draft, recent)].filter(isWorthSummarising));
  if (gain < goals.minGain && before <= goals.hardLimit) return { kind: 'unchanged' };

  const summariser = createSummariser(
    {
      summarise: input.summarise,
      maxRounds: input.maxRounds ?? 3,
      maxPromptLength: promptLength(draft, input.contextWindow),
      timeoutMs: input.summariseTimeoutMs ?? 60_000,
      reportFailure: input.reportFailure,
    },
    signal,
  );
  const requests = new Map(draft.turns.map((turn) => [turn, sectionOf(draft, { turn, count: 0 }).request]));
  const { target, comfortable, hardLimit, minGain } = goals;
  const summaries: Summary[] = [];
  if (reason === 'request' || draft.tokens > comfortable) {
    const goal = reason === 'request' ? 0 : target;
    summaries.push(...(await summariseStretches(draft, stretches, { goal, limit: comfortable }, summariser)));
  }
  if (draft.tokens > comfortable) trimmed.push(...trimRecent(draft, recent, canRead));
  if (draft.tokens > comfortable) {
    const limits = { goal: target, limit: comfortable };
    summaries.push(...(await summariseStretches(draft, stretchesOf(draft, recent), limits, summariser)));
  }
  let cutMessages = 0;
  // At the very edge a small gain would not last for a turn.
  const isHard = draft.tokens > hardLimit || (before > hardLimit && before - draft.tokens < minGain);
  if (isHard) {
    trimmed.push(...trimOutputs(draft, recent, { canRead }));
    const hard = hardTrim(draft, goals);
    summaries.push(...hard.summaries);
    cutMessages = hard.cutMessages;
  }

  if (draft.tokens > goals.acceptable) {
    return { kind: 'too-large', least: draft.tokens, limit: Math.floor(goals.acceptable) };
  }
  const replacement = replacementOf(draft, entries);
  // What a model has summarised is kept even if it gained little: it would only be asked for it again.
  const isPaid = summaries.some((summary) => summary.byModel);
  if (!replacement || before - draft.tokens < (isPaid ? 1 : minGain)) return { kind: 'unchanged' };
  const left = new Set(draft.turns);
  return {
    kind: 'compacted',
    ...replacement,
    summary: readableSummary({
      language: draft.language,
      turns: summaries.map(({ stretch, text }) => ({ request: requests.get(stretch.turn) ?? '', summary: text })),
      trimmed,
      foldedReads,
      leftOut: [...requests].flatMap(([turn, request]) => (left.has(turn) ? [] : [request])),
      cutMessages,
    }),
    tokensBefore: before,
    tokensAfter: draft.tokens,
    method: methodOf(summaries, isHard),
  };
}

/** Well within the window of the model that summarises, in UTF-16 units. */
function promptLength({ language }: Draft, contextWindow: number): number {
  return Math.min(100_000, Math.floor(contextWindow * (language === 'zh' ? 0.5 : 1.5)));
}

/** Finished turns whole; of the one that goes on all but its newest steps. */
function stretchesOf(draft: Draft, turns: readonly Turn[]): Stretch[] {
  return turns.map((turn) => {
    const keep = isOpen(draft, turn) ? keptSteps : 0;
    return { turn, count: Math.max(0, turn.steps.length - keep) };
  });
}

function trimRecent(draft: Draft, recent: readonly Turn[], canRead: boolean): Trimmed[] {
  return recent.flatMap((turn) => {
    const keep = turn === draft.turns.at(-1) ? keptSteps : 0;
    return trimOutputs(draft, [turn], { keep, canRead });
  });
}

function methodOf(summaries: readonly Summary[], isHard: boolean): CompactionResult['method'] {
  if (isHard) return 'hard-trim';
  if (summaries.length === 0) return 'trim';
  return summaries.some((summary) => summary.byModel) ? 'summary' : 'deterministic';
}

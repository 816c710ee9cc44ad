/**
 * A conversation taken apart into turns and steps, so that it can be shortened piece by piece and put together again.
 * A step is an assistant message with the results of its calls: the two are never separated.
 */
import type { ModelMessage } from '../../providers/model.js';
import { type Entry, interruptedByRestart, toolMessage } from '../conversation.js';
import { estimateMessage, estimatePrefix, type MeasuredRequest, type TokenEstimator } from '../tokens.js';
import { type Language, languageOf, typedText, type UserMessage } from './marks.js';

type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>;
export type ToolMessage = Extract<ModelMessage, { role: 'tool' }>;

/** `last`: index of the last entry that a piece stands for. */
export interface UserPiece {
  message: UserMessage;
  last: number;
  tokens: number;
}

export interface Step {
  assistant: AssistantMessage;
  results: ToolMessage[];
  last: number;
  tokens: number;
}

/** Messages of people, and what the assistant did about them. */
export interface Turn {
  /** At least one. */
  users: UserPiece[];
  steps: Step[];
  /** Of users and steps. */
  tokens: number;
}

export interface Draft {
  turns: Turn[];
  /** The newest step while it lacks results: it stays as it is. */
  pending: ModelMessage[];
  /** Of the whole request: system prompt, tools, turns, pending. */
  tokens: number;
  /** What no shortening takes away: system prompt, tools, pending, the newest message of a person. */
  leastTokens: number;
  /** Index of the last entry that was changed, -1 for none. */
  changedUpTo: number;
  language: Language;
  readonly estimator: TokenEstimator;
}

export function createDraft(
  entries: readonly Entry[],
  prefix: Omit<MeasuredRequest, 'messages'>,
  estimator: TokenEstimator,
): Draft {
  const turns: Turn[] = [];
  let pending: ModelMessage[] = [];
  let index = 0;
  while (index < entries.length) {
    const { message } = (entries as Entry[])[index]!;
    const turn = turns.at(-1);
    if (message.role === 'user') {
      const tokens = estimateMessage(estimator, message);
      const piece = { message, last: index, tokens };
      if (turn && turn.steps.length === 0) {
        turn.users.push(piece);
        turn.tokens += tokens;
      } else {
        turns.push({ users: [piece], steps: [], tokens });
      }
      index += 1;
    } else if (message.role === 'assistant') {
      const { step, isComplete, next } = readStep(entries, index, estimator);
      if (!isComplete && next === entries.length) {
        pending = entries.slice(index).map((entry) => entry.message);
      } else if (turn) {
        turn.steps.push(step);
        turn.tokens += step.tokens;
      }
      index = next;
    } else {
      index += 1; // a result whose call is gone
    }
  }
  const fixed = pending.reduce(
    (sum, message) => sum + estimateMessage(estimator, message),
    estimatePrefix(estimator, prefix),
  );
  const newest = turns.at(-1)?.users.at(-1);
  return {
    turns,
    pending,
    tokens: turns.reduce((sum, turn) => sum + turn.tokens, fixed),
    leastTokens: fixed + (newest?.tokens ?? 0),
    changedUpTo: -1,
    language: languageOf(sampleOf(turns)),
    estimator,
  };
}

/** The newest turn while it has no final answer yet. */
export function isOpen(draft: Draft, turn: Turn): boolean {
  return (
    turn === draft.turns.at(-1) && (draft.pending.length > 0 || turn.steps.at(-1)?.assistant.toolCalls.length !== 0)
  );
}

export function stepTokens(
  estimator: TokenEstimator,
  { assistant, results }: Pick<Step, 'assistant' | 'results'>,
): number {
  return results.reduce(
    (sum, result) => sum + estimateMessage(estimator, result),
    estimateMessage(estimator, assistant),
  );
}

/** Changes a turn's pieces, counts anew and notes how far the conversation differs now. `last`: see `Step`. */
export function changeTurn(
  draft: Draft,
  turn: Turn,
  change: { users?: UserPiece[]; steps?: Step[] },
  last: number,
): void {
  Object.assign(turn, change);
  const before = turn.tokens;
  turn.tokens = turnTokens(turn);
  draft.tokens += turn.tokens - before;
  draft.changedUpTo = Math.max(draft.changedUpTo, last);
}

export function turnTokens({ users, steps }: Pick<Turn, 'users' | 'steps'>): number {
  return [...users, ...steps].reduce((sum, piece) => sum + piece.tokens, 0);
}

/** The piece with another message in its place. */
export function changeUser(draft: Draft, piece: UserPiece, message: UserMessage): UserPiece {
  return message === piece.message ? piece : { ...piece, message, tokens: estimateMessage(draft.estimator, message) };
}

/** Takes turns out; the caller leaves a note. */
export function removeTurns(draft: Draft, start: number, count: number): Turn[] {
  const removed = draft.turns.splice(start, count);
  for (const turn of removed) {
    draft.tokens -= turn.tokens;
    draft.changedUpTo = Math.max(draft.changedUpTo, lastOf(turn));
  }
  return removed;
}

export function lastOf(turn: Turn): number {
  return Math.max(turn.steps.at(-1)?.last ?? -1, turn.users.at(-1)?.last ?? -1);
}

/**
 * The messages that stand for every event up to `to`, at the first place behind the changes where the events can be cut.
 * Undefined when there is none.
 */
export function replacementOf(
  draft: Draft,
  entries: readonly Entry[],
): { to: number; messages: ModelMessage[] } | undefined {
  const cuts = cutsOf(entries);
  const messages: ModelMessage[] = [];
  for (const turn of draft.turns) {
    const pieces = [
      ...turn.users.map(({ message, last }) => ({ messages: [message], last })),
      ...turn.steps.map(({ assistant, results, last }) => ({ messages: [assistant, ...results], last })),
    ];
    for (const piece of pieces) {
      messages.push(...piece.messages);
      const to = cuts[piece.last];
      if (piece.last >= draft.changedUpTo && to !== undefined) return { to, messages };
    }
  }
  return undefined;
}

/** For each entry behind which the stream can be cut by id, the highest id up to it. Events may be stored out of order. */
function cutsOf(entries: readonly Entry[]): (number | undefined)[] {
  const cuts: (number | undefined)[] = [];
  let highest = Number.NEGATIVE_INFINITY;
  for (const { eventId } of entries) {
    highest = Math.max(highest, eventId);
    cuts.push(highest);
  }
  let lowest = Number.POSITIVE_INFINITY;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    if ((cuts[index] as number) >= lowest) cuts[index] = undefined;
    lowest = Math.min(lowest, (entries as Entry[])[index]!.eventId);
  }
  return cuts;
}

function readStep(
  entries: readonly Entry[],
  start: number,
  estimator: TokenEstimator,
): { step: Step; isComplete: boolean; next: number } {
  const assistant = entries[start]?.message as AssistantMessage;
  const found = new Map<string, ToolMessage>();
  let next = start + 1;
  for (let message = entries[next]?.message; message?.role === 'tool'; message = entries[next]?.message) {
    found.set(message.callId, found.get(message.callId) ?? message);
    next += 1;
  }
  const results = assistant.toolCalls.map(
    (call) =>
      found.get(call.callId) ??
      (toolMessage({ ...call, state: 'interrupted', output: interruptedByRestart }) as ToolMessage),
  );
  const isComplete = assistant.toolCalls.every((call) => found.has(call.callId));
  const step = { assistant, results, last: next - 1, tokens: stepTokens(estimator, { assistant, results }) };
  return { step, isComplete, next };
}

/** Enough of what people wrote lately to tell the language. */
function sampleOf(turns: readonly Turn[]): string {
  const sample: string[] = [];
  let length = 0;
  for (const turn of turns.toReversed()) {
    const text = turn.users.map(({ message }) => typedText(message)).join('\n');
    sample.push(text.slice(0, 500));
    length += text.length;
    if (length > 2000) break;
  }
  return sample.join('\n');
}

/** Puts a summary in the place of steps, where the rules of every wire allow it. */

import { disarm } from '../prompt.js';
import { estimateMessage } from '../tokens.js';
import { describeSteps } from './describe-steps.js';
import {
  changeTurn,
  changeUser,
  type Draft,
  isOpen,
  type Step,
  type Turn,
  turnTokens,
  type UserPiece,
} from './draft.js';
import { joinBlocks, splitBlocks, summaryIn, summaryMessage, typedText } from './marks.js';
import type { Section } from './summary-prompt.js';

/** The first `count` steps of a turn: all of a finished one, the older ones of one that goes on. */
export interface Stretch {
  turn: Turn;
  count: number;
}

/** Bounds of a summary without a model, in UTF-16 units. */
const longestText = 1600;
const shortestText = 80;

export function sectionOf(draft: Draft, { turn, count }: Stretch): Section {
  return {
    request: turn.users.map(({ message }) => typedText(message)).join('\n'),
    earlier: earlierIn(turn),
    steps: turn.steps.slice(0, count),
    isOpen: isOpen(draft, turn),
  };
}

/** What `condense` can take away at most. */
export function stretchTokens({ turn, count }: Stretch): number {
  return turn.steps.slice(0, count).reduce((sum, step) => sum + step.tokens, 0);
}

/** Nothing but a summary is left of it. */
export function isCondensed({ turn, count }: Stretch): boolean {
  const steps = turn.steps.slice(0, count);
  return steps.every(({ assistant }) => summaryIn(assistant) !== undefined);
}

/**
 * A finished turn's summary becomes the assistant's message; that of a turn which goes on stands behind the person's
 * message, so that the next message may be the assistant's. False, and nothing changed, when that would not be shorter.
 */
export function condense(draft: Draft, { turn, count }: Stretch, summary: string): boolean {
  const text = disarm(summary).trim();
  const newestUser = turn.users.at(-1) as UserPiece;
  const last = turn.steps[count - 1]?.last;
  if (text === '' || last === undefined) return false;
  const { own, blocks } = splitBlocks(newestUser.message);
  const goesOn = isOpen(draft, turn);
  // Two messages of the assistant in a row are not for every wire.
  if (!goesOn && count < turn.steps.length) return false;
  const { progress: _earlier, ...otherBlocks } = blocks;
  const message = joinBlocks(own, goesOn ? { ...otherBlocks, progress: text } : otherBlocks, draft.language);
  const users = [...turn.users.slice(0, -1), changeUser(draft, newestUser, message)];
  const rest = turn.steps.slice(count);
  const steps = goesOn ? rest : [summaryStep(draft, text, last), ...rest];
  if (turnTokens({ users, steps }) >= turn.tokens) return false;
  changeTurn(draft, turn, { users, steps }, last);
  return true;
}

/** Returns the summary; undefined when there is none that is shorter. */
export function condenseWithoutModel(draft: Draft, stretch: Stretch): string | undefined {
  const { earlier, steps } = sectionOf(draft, stretch);
  const size = steps.reduce(
    (sum, { assistant, results }) =>
      results.reduce((size, { output }) => size + output.length, sum + assistant.text.length),
    earlier?.length ?? 0,
  );
  for (let maxLength = Math.min(longestText, size / 2); maxLength >= shortestText; maxLength /= 2) {
    const text = describeSteps(steps, { language: draft.language, maxLength, earlier });
    if (condense(draft, stretch, text)) return text;
  }
  return undefined;
}

function earlierIn(turn: Turn): string | undefined {
  return splitBlocks((turn.users.at(-1) as UserPiece).message).blocks.progress;
}

function summaryStep(draft: Draft, text: string, last: number): Step {
  const assistant = summaryMessage(text, draft.language) as Step['assistant'];
  return { assistant, results: [], last, tokens: estimateMessage(draft.estimator, assistant) };
}

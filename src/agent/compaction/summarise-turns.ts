/** Replaces what the assistant did by summaries, oldest first: by a model in a few rounds, else without one. */
import { setImmediate } from 'node:timers/promises';
import { condense, condenseWithoutModel, isCondensed, type Stretch, sectionOf, stretchTokens } from './condense.js';
import type { Draft } from './draft.js';
import { buildSummaryPrompt, parseSummaries, type SummaryPrompt, sectionLength } from './summary-prompt.js';

export interface Summariser {
  /** Undefined when the model gave nothing of use; throws the reason when the caller's signal aborts. */
  ask(prompt: SummaryPrompt): Promise<string | undefined>;
  /** How many calls are left; none after one that failed. */
  roundsLeft(): number;
  /** Of a prompt's text, in UTF-16 units. */
  readonly maxPromptLength: number;
}

export interface Summary {
  stretch: Stretch;
  text: string;
  byModel: boolean;
}

/** Below this a summary gains too little. */
const minTokens = 120;
/** A summary is expected to leave this share. */
const expectedShare = 0.3;
const maxSectionsPerRound = 40;
const breathEvery = 100;
const longestSection = 24_000;

export function isWorthSummarising(stretch: Stretch): boolean {
  return stretch.count > 0 && !isCondensed(stretch) && stretchTokens(stretch) >= minTokens;
}

/** What summaries of these will take away, as a guess. */
export function expectedGain(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, stretch) => sum + stretchTokens(stretch) * (1 - expectedShare), 0);
}

/** With the model until the draft has `goal` tokens or the rounds are over; then, above `limit`, without it. */
export async function summariseStretches(
  draft: Draft,
  stretches: readonly Stretch[],
  { goal, limit }: { goal: number; limit: number },
  summariser: Summariser,
): Promise<Summary[]> {
  const queue = stretches.filter(isWorthSummarising);
  const summaries: Summary[] = [];
  const { maxPromptLength } = summariser;
  const maxSectionLength = Math.min(longestSection, maxPromptLength);
  while (draft.tokens > goal && queue.length > 0 && summariser.roundsLeft() > 0) {
    const batch = takeBatch(draft, queue, draft.tokens - goal, { maxPromptLength, maxSectionLength });
    const sections = batch.map((stretch) => sectionOf(draft, stretch));
    const average = batch.reduce((sum, stretch) => sum + stretchTokens(stretch), 0) / batch.length;
    const maxWords = Math.min(250, Math.max(40, Math.round(average * 0.2)));
    const { language } = draft;
    const answer = await summariser.ask(buildSummaryPrompt(sections, { language, maxWords, maxSectionLength }));
    const texts = answer === undefined ? [] : parseSummaries(answer, batch.length);
    for (const [index, stretch] of batch.entries()) {
      const text = texts[index];
      if (text !== undefined && condense(draft, stretch, text)) summaries.push({ stretch, text, byModel: true });
      else withoutModel(draft, stretch, summaries);
    }
  }
  if (draft.tokens <= limit) return summaries;
  for (const [index, stretch] of queue.entries()) {
    if (draft.tokens <= goal) break;
    withoutModel(draft, stretch, summaries);
    // Other dialogs go on meanwhile.
    if (index % breathEvery === breathEvery - 1) await setImmediate();
  }
  return summaries;
}

function withoutModel(draft: Draft, stretch: Stretch, summaries: Summary[]): void {
  const text = condenseWithoutModel(draft, stretch);
  if (text !== undefined) summaries.push({ stretch, text, byModel: false });
}

/** Takes from the front of the queue what one call can hold and what is needed. At least one. */
function takeBatch(
  draft: Draft,
  queue: Stretch[],
  excess: number,
  { maxPromptLength, maxSectionLength }: { maxPromptLength: number; maxSectionLength: number },
): Stretch[] {
  const batch: Stretch[] = [];
  let gain = 0;
  let length = 0;
  while (queue.length > 0 && batch.length < maxSectionsPerRound && gain < excess) {
    const [stretch] = queue as [Stretch];
    length += sectionLength(sectionOf(draft, stretch), maxSectionLength);
    if (batch.length > 0 && length > maxPromptLength) break;
    queue.shift();
    batch.push(stretch);
    gain += expectedGain([stretch]);
  }
  return batch;
}

/**
 * What is laid beside a new message: the `system` tier always; what matches; today's notes; what falls into a time that
 * the message names. Rather too much than too little, within the token budget.
 */
import { startOfDay } from './days.js';
import type { MemoryEntry } from './memory-entry.js';
import type { MemoryStore } from './memory-store.js';
import type { Scope } from './scopes.js';
import { stopWords } from './stop-words.js';
import { timeMentioned } from './time-mentions.js';
import { partsOf } from './tokens.js';

export interface PromptRecall {
  /** In the order in which they belong into the prompt, as `- key: content`. */
  entries: Pick<MemoryEntry, 'id' | 'key' | 'content' | 'tier'>[];
  /** For the model, when the message says too little to search for. */
  hint?: string;
}

export interface PromptRecallOptions {
  /** Matches, and as many of today's notes; `memory.recallLimit`. 0: nothing but the system tier. */
  limit: number;
  tokenBudget: number;
}

export interface PromptRecallDependencies {
  store: Pick<MemoryStore, 'recall' | 'list' | 'markUsed'>;
  timeZone: string;
  now: () => number;
  /** Default: an estimate that counts a Chinese character as one token. */
  countTokens?: (text: string) => number;
}

/** System entries beyond this are left out: they cost tokens in every request. */
const maxSystemEntries = 50;
/** Messages with fewer words that say something get the hint when nothing matches. */
const fewWords = 2;
const hint =
  'The message refers to something outside it and nothing stored matches: memory_recall or timeline_recall can load what was noted today.';

export async function recallForPrompt(
  { store, timeZone, now, countTokens = estimateTokens }: PromptRecallDependencies,
  text: string,
  scopes: readonly Scope[],
  { limit, tokenBudget }: PromptRecallOptions,
): Promise<PromptRecall> {
  const system = store.list({ scopes, tier: 'system', limit: maxSystemEntries }).items;
  const matches =
    limit === 0 ? [] : await store.recall(text, { scopes, category: 'knowledge', limit: limit + system.length });
  const matching = matches.filter((entry) => entry.tier !== 'system').slice(0, limit);
  const span = limit === 0 ? undefined : timeMentioned(text, now(), timeZone);
  const today = { since: startOfDay(now(), timeZone), until: now() };
  const daily = limit === 0 ? [] : store.list({ scopes, tier: 'daily', ...(span ?? today), limit }).items;
  const timeline = span ? store.list({ scopes, category: 'timeline', ...span, limit }).items : [];

  const used = new Set<MemoryEntry>();
  let left = tokenBudget;
  for (const entry of uniqueById([...system, ...matching, ...daily, ...timeline])) {
    const cost = countTokens(`- ${entry.key}: ${entry.content}\n`);
    // A shorter one behind it may still fit.
    if (cost > left) continue;
    left -= cost;
    used.add(entry);
  }
  store.markUsed(matching.filter((entry) => used.has(entry)));
  const entries = [...used].map(({ id, key, content, tier }) => ({ id, key, content, tier }));
  const saysLittle = limit > 0 && matching.length === 0 && timeline.length === 0 && countWords(text) < fewWords;
  return saysLittle && text.trim() !== '' ? { entries, hint } : { entries };
}

function uniqueById(entries: readonly MemoryEntry[]): MemoryEntry[] {
  return [...new Map(entries.map((entry) => [entry.id, entry])).values()];
}

/** Words that say something; a run without spaces counts a word for every two characters. */
function countWords(text: string): number {
  const { words, runs } = partsOf(text.slice(0, 2000));
  const characters = runs.flatMap((run) => [...run]).filter((character) => !stopWords.has(character)).length;
  return words.filter((word) => !stopWords.has(word)).length + characters / 2;
}

function estimateTokens(text: string): number {
  const wide = text.match(/[^\p{ASCII}]/gu)?.length ?? 0;
  return Math.ceil(wide + (text.length - wide) / 3.5);
}

/**
 * When summaries are not enough: the first and the last turns stay, the middle goes; as the very last resort people's
 * own messages are cut, never the newest one.
 */
import { headOf, tailOf } from '../../tools/clean-text.js';
import { condenseWithoutModel } from './condense.js';
import { outlineOf } from './describe-steps.js';
import { changeTurn, changeUser, type Draft, isOpen, removeTurns, type Turn, type UserPiece } from './draft.js';
import { joinBlocks, type Language, splitBlocks, typedText, type UserMessage } from './marks.js';
import type { CompactionGoals } from './should-compact.js';
import type { Summary } from './summarise-turns.js';

/** Turns at the beginning of the conversation that stay: they mostly say what it is about. */
const firstTurns = 2;
const maxLines = 20;
const maxLineLength = 100;

const longMessageLength = 2000;
const headLength = 1000;
const tailLength = 500;

export interface HardTrimmed {
  summaries: Summary[];
  /** People's messages that were cut. */
  cutMessages: number;
}

/** Turns are left out down to the target, so that it lasts for a while; everything worse only down to the hard limit. */
export function hardTrim(
  draft: Draft,
  { target: goal, comfortable, hardLimit: limit }: Pick<CompactionGoals, 'target' | 'comfortable' | 'hardLimit'>,
): HardTrimmed {
  if (draft.tokens > comfortable) dropMiddle(draft, firstTurns, goal);
  const summaries = condenseNewest(draft, limit);
  let cut = cutMessages(draft, draft.turns.slice(0, -1), limit);
  if (draft.tokens > limit) dropMiddle(draft, 0, goal);
  cut += cutMessages(draft, draft.turns.slice(-1), limit);
  return { summaries, cutMessages: cut };
}

/** Keeps `first` turns and, from the newest one back, as many as `goal` allows. */
function dropMiddle(draft: Draft, first: number, goal: number): void {
  const { turns } = draft;
  if (turns.length < 2) return;
  const start = Math.min(first, turns.length - 1);
  let tokens = draft.tokens;
  let count = 0;
  // The note takes some room, too.
  while (start + count < turns.length - 1 && tokens > goal - noteTokens) {
    tokens -= (turns[start + count] as Turn).tokens;
    count += 1;
  }
  if (count === 0) return;
  const removed = removeTurns(draft, start, count);
  leaveNote(draft, draft.turns[start] as Turn, removed);
}

const noteTokens = 600;

/** The turn behind the gap tells what was left out: the number of messages and the beginnings of some. */
function leaveNote(draft: Draft, turn: Turn, removed: readonly Turn[]): void {
  const newestUser = turn.users.at(-1) as UserPiece;
  const { own, blocks } = splitBlocks(newestUser.message);
  const notes = [...removed, turn].flatMap(({ users }) =>
    users.flatMap(({ message }) => splitBlocks(message).blocks.gap ?? []),
  );
  const earlier = notes.map(readNote);
  const messages = removed.flatMap(({ users }) => users.map(({ message }) => message));
  const count = earlier.reduce((sum, note) => sum + note.count, messages.length);
  const lines = [
    ...earlier.flatMap((note) => note.lines),
    ...messages.map((message) => `- ${outlineOf(typedText(message), maxLineLength)}`),
  ];
  const gap = noteText(count, lines, draft.language);
  const message = joinBlocks(own, { ...blocks, gap }, draft.language);
  const users = [...turn.users.slice(0, -1), changeUser(draft, newestUser, message)];
  changeTurn(draft, turn, { users }, newestUser.last);
}

const countTexts: Record<Language, (count: number) => string> = {
  en: (count) => `${count} messages of people, with the answers, among them:`,
  zh: (count) => `${count} 条用户消息及其回答,其中有:`,
};

function noteText(count: number, lines: readonly string[], language: Language): string {
  const half = maxLines / 2;
  const kept = lines.length <= maxLines ? lines : [...lines.slice(0, half), ...lines.slice(-half)];
  return [countTexts[language](count), ...kept].join('\n');
}

function readNote(note: string): { count: number; lines: string[] } {
  const [first = '', ...lines] = note.split('\n');
  return { count: Number(first.match(/\d+/)?.[0] ?? 0), lines };
}

/** The work on the newest message: first all but its last step, then that one, too. */
function condenseNewest(draft: Draft, limit: number): Summary[] {
  const turn = draft.turns.at(-1);
  const summaries: Summary[] = [];
  if (!turn) return summaries;
  for (const keep of isOpen(draft, turn) ? [1, 0] : [0]) {
    if (draft.tokens <= limit) break;
    const stretch = { turn, count: Math.max(0, turn.steps.length - keep) };
    const text = condenseWithoutModel(draft, stretch);
    if (text !== undefined) summaries.push({ stretch, text, byModel: false });
  }
  return summaries;
}

/** Oldest first; the very newest message of the conversation is never cut. Returns how many were. */
function cutMessages(draft: Draft, turns: readonly Turn[], limit: number): number {
  const newest = draft.turns.at(-1)?.users.at(-1);
  let count = 0;
  for (const turn of turns) {
    for (const piece of turn.users) {
      if (draft.tokens <= limit) return count;
      if (piece === newest) continue;
      const { own, blocks } = splitBlocks(piece.message);
      const cut = changeUser(draft, piece, joinBlocks(cutMessage(own), blocks, draft.language));
      if (cut.tokens >= piece.tokens) continue;
      const users = turn.users.map((candidate) => (candidate === piece ? cut : candidate));
      changeTurn(draft, turn, { users }, piece.last);
      count += 1;
    }
  }
  return count;
}

function cutMessage(message: UserMessage): UserMessage {
  const content = message.content.map((part) => {
    if (part.type === 'media') return { type: 'text' as const, text: `[a file of type ${part.mimeType}, left out]` };
    if (part.text.length < longMessageLength) return part;
    const note = `[… ${part.text.length} characters, the middle is left out …]`;
    return { ...part, text: `${headOf(part.text, headLength)}\n\n${note}\n\n${tailOf(part.text, tailLength)}` };
  });
  return { role: 'user', content };
}

/**
 * Tokens of a text without a tokenizer's table. A small state machine cuts the text where byte-pair tokenizers cut
 * (words, digits in threes, runs of marks) and adds for each character what it costs on average at its place.
 */

const kindNames = ['mark', 'lower', 'upper', 'digit', 'space', 'newline', 'wide'] as const;
type Kind = (typeof kindNames)[number];
const kindCount = 8;
const kindOf = (name: Kind): number => kindNames.indexOf(name);

/** Kind of each UTF-16 unit. */
const kinds = new Uint8Array(0x10000)
  .fill(kindOf('wide'), 0x80)
  .fill(kindOf('lower'), 0x61, 0x7b)
  .fill(kindOf('upper'), 0x41, 0x5b)
  .fill(kindOf('digit'), 0x30, 0x3a)
  .fill(kindOf('space'), 0x20, 0x21)
  .fill(kindOf('space'), 0x09, 0x0a)
  .fill(kindOf('newline'), 0x0a, 0x0b)
  .fill(kindOf('newline'), 0x0d, 0x0e);

/** Hundredths of a token of each UTF-16 unit beyond ASCII: 78 for Han, its punctuation and what is not listed. */
const wideCosts = new Uint8Array(0x10000).fill(78, 0x80);
for (const [first, last, cost] of [
  [0x00c0, 0x024f, 48], // Latin with accents
  [0x0400, 0x052f, 26], // Cyrillic
  [0x0590, 0x06ff, 50], // Hebrew, Arabic
  [0x0900, 0x0eff, 50], // scripts of India, Thai, Lao
  [0x200d, 0x200d, 87], // the joiner of emoji
  [0x3040, 0x30ff, 70], // kana
  [0xac00, 0xd7a3, 64], // Hangul
  [0xd800, 0xdfff, 87], // halves of emoji and rare characters
  [0xfe00, 0xfe0f, 87], // variation selectors
] as const) {
  wideCosts.fill(cost, first, last + 1);
}

/** Each state is a kind of piece with its length so far; the last one of a kind stands for all longer ones. */
const states = [
  ...['space1', 'space2', 'newline', 'wide'],
  ...['word1', 'word2', 'word3', 'word4', 'word5', 'word6', 'word7', 'word8'], // behind a space: ordinary words
  ...['bare1', 'bare2', 'bare3', 'bare4', 'bare5', 'bare6'], // behind a mark
  ...['upper1', 'upper2', 'upper3', 'upper4'],
  ...['mixed1', 'mixed2', 'mixed3'], // letters behind a digit: mostly random
  ...['digit1', 'digit2', 'digit3'],
  ...['prefix', 'mark1', 'mark2', 'mark3'], // a prefix is one mark that may belong to the word behind it
] as const;
type State = (typeof states)[number];

const nextStates = new Uint8Array(states.length * kindCount);
/** Hundredths of a token. */
const costs = new Uint8Array(states.length * kindCount);
for (const [index, state] of states.entries()) {
  for (const kind of kindNames) {
    const [next, cost] = transition(state, kind);
    nextStates[index * kindCount + kindOf(kind)] = states.indexOf(next);
    costs[index * kindCount + kindOf(kind)] = cost;
  }
}

/** A whole number; 0 for an empty text only. One pass, nothing is allocated. */
export function estimateTokens(text: string): number {
  let hundredths = 0;
  let state = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    const cell = state * kindCount + (kinds[unit] as number);
    hundredths += (costs[cell] as number) + (wideCosts[unit] as number);
    state = nextStates[cell] as number;
  }
  return Math.ceil(hundredths / 100);
}

/** The costs were fitted to o200k on prose, code, JSON and logs in many languages. */
function transition(state: State, kind: Kind): [State, number] {
  const piece = state.replace(/\d/, '');
  const length = Number(state.at(-1));
  const grown = (name: string, longest: number) => `${name}${Math.min(length + 1, longest)}` as State;
  // Two spaces or more are a token of their own, unless they end a line; one belongs to the word behind it.
  const spaces = state === 'space2' ? 100 : 0;

  if (kind === 'lower' || kind === 'upper') {
    if (piece === 'mixed') return [grown('mixed', 3), length === 1 ? 4 : 52];
    if (piece === 'digit') return ['mixed1', 100];
  }
  switch (kind) {
    case 'lower':
      if (piece === 'word') return [grown('word', 8), length < 7 ? 0 : 8];
      if (piece === 'bare') return [grown('bare', 6), length < 5 ? 0 : 15];
      if (piece === 'upper') return [grown('word', 8), 0];
      return piece === 'space' ? ['word1', 100 + spaces] : ['bare1', 108];
    case 'upper':
      if (piece === 'upper') return [grown('upper', 4), length < 3 ? 0 : 27];
      return ['upper1', (piece === 'space' ? 100 : 104) + spaces];
    case 'digit':
      if (piece === 'digit') return length === 3 ? ['digit1', 100] : [grown('digit', 3), 0];
      return ['digit1', 100 + (piece === 'space' ? 100 : 0) + (state === 'prefix' ? 78 : 0)];
    case 'space':
      return piece === 'space' ? ['space2', 1] : ['space1', state === 'prefix' ? 78 : 0];
    case 'newline':
      if (piece === 'newline' || piece === 'mark') return ['newline', 1];
      return ['newline', state === 'prefix' ? 78 : 100];
    case 'wide':
      return ['wide', spaces + (state === 'prefix' ? 78 : 0)];
    case 'mark':
      if (state === 'prefix') return ['mark2', 78];
      if (piece === 'mark') return [grown('mark', 3), length < 3 ? 0 : 20];
      return piece === 'space' ? ['mark1', 100 + spaces] : ['prefix', 22];
  }
}

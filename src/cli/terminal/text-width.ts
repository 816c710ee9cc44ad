/** How many columns a text takes in a terminal: Chinese characters and emoji two, combining marks none. */

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

export function textWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment);
  return width;
}

/** The text, cut with `…` where it is wider than `columns`. */
export function fitWidth(text: string, columns: number): string {
  if (text.length * 2 <= columns || textWidth(text) <= columns) return text;
  let fitting = '';
  let width = 1;
  for (const { segment } of graphemes.segment(text)) {
    width += graphemeWidth(segment);
    if (width > columns) break;
    fitting += segment;
  }
  return columns < 1 ? '' : `${fitting}…`;
}

export function padWidth(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - textWidth(text)));
}

function graphemeWidth(grapheme: string): number {
  if (/\p{Emoji_Presentation}|\ufe0f|\p{Regional_Indicator}/u.test(grapheme)) return 2;
  let width = 0;
  for (const character of grapheme) width += characterWidth(character);
  return Math.min(2, width);
}

function characterWidth(character: string): number {
  if (/[\p{Mn}\p{Me}\p{Cf}\p{Cc}\u1160-\u11ff]/u.test(character)) return 0;
  const code = character.codePointAt(0)!;
  return wideRanges.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}

/** East Asian Width "wide" and "fullwidth" of Unicode's EastAsianWidth.txt, joined where only unassigned codes lie between. */
const wideRanges: readonly (readonly [first: number, last: number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18cff],
  [0x1aff0, 0x1b2ff],
  [0x1f200, 0x1f2ff],
  [0x20000, 0x3fffd],
];

/** Text that every wire and the database take: no lone surrogates, no NUL. Ordinary text comes back unchanged. */

const unfit = /\p{Surrogate}|\0/gu;

export function cleanText(text: string): string {
  return text.replace(unfit, '\uFFFD');
}

/** The first `length` UTF-16 units of `text`, less one where the cut would split a character. */
export function headOf(text: string, length: number): string {
  return text.slice(0, isInsidePair(text, length) ? length - 1 : length);
}

/** The last `length` UTF-16 units of `text`, less one where the cut would split a character. */
export function tailOf(text: string, length: number): string {
  const start = text.length - length;
  return text.slice(isInsidePair(text, start) ? start + 1 : start);
}

function isInsidePair(text: string, index: number): boolean {
  const before = text.charCodeAt(index - 1);
  const after = text.charCodeAt(index);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}

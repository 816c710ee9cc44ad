/** Text as it is compared, never as it is shown: full width and case do not matter, nor do accents, nor traditional against simplified. */
import { characterVariants } from './character-variants.js';

const simplified = new Map<string, string>();
for (let index = 0; index < characterVariants.length; index += 2) {
  simplified.set(characterVariants[index]!, characterVariants[index + 1]!);
}

const traditional = new RegExp(`[${[...simplified.keys()].join('')}]`, 'g');

export function normalise(text: string): string {
  return fold(text.normalize('NFKC'));
}

/** Like `normalise`, for text that is NFKC already. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  if (isAscii(lower)) return lower;
  return lower
    .normalize('NFD')
    .replace(/([a-z])\p{Mn}+/gu, '$1')
    .normalize('NFC')
    .replace(traditional, (character) => simplified.get(character)!);
}

function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant
  return /^[\x00-\x7f]*$/.test(text);
}

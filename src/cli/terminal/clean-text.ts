/** Takes out what could steer the terminal: nothing that a model or a tool says may move the cursor or name the window. */

/** Control characters of both sets, separators that some terminals obey, marks that turn the order of text around. */
const unsafe = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Line breaks and tabs stay. */
export function cleanText(text: string): string {
  return text.replace(unsafe, '').replace(/\p{Surrogate}/gu, '\ufffd');
}

/** On one line, with single spaces. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim();
}

/** For text that comes in pieces: half a character waits for its other half. */
export class TextCleaner {
  #rest = '';

  push(text: string): string {
    const whole = this.#rest + text;
    const hasHalf = /[\ud800-\udbff]$/.test(whole);
    this.#rest = hasHalf ? whole.slice(-1) : '';
    return cleanText(hasHalf ? whole.slice(0, -1) : whole);
  }

  end(): string {
    const rest = cleanText(this.#rest);
    this.#rest = '';
    return rest;
  }
}

/** What the transcript index holds beside words. */

/** No text gives these tokens, because `§` and `·` are never part of one. */
export function sessionToken(sessionKey: number): string {
  return `§${sessionKey}`;
}

export function pairToken(pair: string): string {
  return `·${pair}`;
}

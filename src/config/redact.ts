/** Keeps secret values out of text: logs, error messages, anything printed. */

export const mask = '********';

/** Shorter values ("none", "test") are ordinary words: replacing them would ruin the text and protect nothing. */
export const minSecretLength = 8;

export type Redactor = (text: string) => string;

/** Replaces every secret, also as it looks inside JSON text and inside a URL. */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const forms = new Set<string>();
  for (const secret of secrets) {
    for (const part of [secret, secret.slice(secret.lastIndexOf(' ') + 1)]) {
      if (part.length < minSecretLength) continue;
      forms.add(part);
      forms.add(JSON.stringify(part).slice(1, -1));
      forms.add(new URLSearchParams({ '': part }).toString().slice(1));
      forms.add(encodeURIComponent(part.replace(/\p{Surrogate}/gu, '\ufffd')));
    }
  }
  if (forms.size === 0) return (text) => text;
  // Longest first: a secret that holds another one is replaced whole.
  const longestFirst = [...forms].sort((one, other) => other.length - one.length);
  const pattern = new RegExp(longestFirst.map(escapeForPattern).join('|'), 'g');
  return (text) => text.replace(pattern, mask);
}

function escapeForPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** What was typed, over many chats: one line each in a file that only its owner reads. */
import { appendFileSync, chmodSync, readFileSync, writeFileSync } from 'node:fs';

/** Entries that are kept. */
export const maxEntries = 1000;
/** Longer lines (pasted ones, mostly) are not worth a place. */
const maxLineLength = 2000;

export interface History {
  /** Newest first. */
  readonly entries: string[];
  add(line: string): void;
}

/** Without a home, or where it cannot be written, the history ends with the chat; `onProblem` hears of the latter once. */
export function openHistory(file: string, onProblem: (message: string) => void): History {
  let isUsable = true;
  const attempt = (work: () => void) => {
    if (!isUsable) return;
    try {
      work();
    } catch (error) {
      isUsable = false;
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') onProblem(`What you type is not kept: ${file} cannot be used (${code}).`);
    }
  };
  const lines = readLines(file, onProblem);
  const kept = lines.slice(-maxEntries);
  if (lines.length > 0) attempt(() => chmodSync(file, 0o600));
  // Shortened rarely, not at every start.
  if (lines.length > 2 * maxEntries) attempt(() => writeFileSync(file, `${kept.join('\n')}\n`, { mode: 0o600 }));
  let last = kept.at(-1);
  return {
    entries: kept.reverse(),
    add(line) {
      if (line === last || line.trim() === '' || line.length > maxLineLength) return;
      last = line;
      attempt(() => appendFileSync(file, `${line}\n`, { mode: 0o600 }));
    },
  };
}

function readLines(file: string, onProblem: (message: string) => void): string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') onProblem(`What you typed before cannot be read from ${file} (${code}).`);
    return [];
  }
}

/**
 * The user's own words, one per line in a file. They are looked for in the text itself, beside what the segmenter
 * finds, so they count at once and with every engine.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { normalise } from './normalise.js';

export interface Dictionary {
  /** Changes with the words; '' without any. Part of what is recorded with the index. Reads the file again if it changed. */
  version(): string;
  /** The words found in a normalised run, each once. */
  wordsIn(run: string): string[];
  /** Adds a word to the file. Returns false if it is there already, or cannot be a word. */
  add(word: string): boolean;
}

/** Lines beyond this are not read. */
const maxWords = 20_000;
const maxWordLength = 40;

/** `file` need not exist. Anything after the first space of a line (frequency, tag) is ignored, and so are lines that begin with `#`. */
export function createDictionary(file: string): Dictionary {
  let stamp = '';
  let version = '';
  /** By first character, because a run is looked through character by character. */
  let words = new Map<string, Set<string>>();

  const refresh = () => {
    const newStamp = stampOf(file);
    if (newStamp === stamp) return;
    const list = newStamp === '' ? [] : readWords(file);
    words = new Map();
    for (const word of list) {
      const first = firstOf(word);
      words.set(first, (words.get(first) ?? new Set()).add(word));
    }
    stamp = newStamp;
    version = list.length === 0 ? '' : createHash('sha256').update(list.join('\n')).digest('hex').slice(0, 12);
  };

  return {
    version() {
      refresh();
      return version;
    },
    wordsIn(run) {
      if (words.size === 0) return [];
      const found = new Set<string>();
      for (let start = 0; start < run.length; start++) {
        for (const word of words.get(firstOf(run, start)) ?? []) if (run.startsWith(word, start)) found.add(word);
      }
      return [...found];
    },
    add(word) {
      refresh();
      const clean = normalise(word.trim());
      if (!isWord(clean) || words.get(firstOf(clean))?.has(clean)) return false;
      appendFileSync(file, `${startsNewLine(file) ? '' : '\n'}${clean}\n`);
      return true;
    },
  };
}

/** Only scripts without spaces need help; a Latin word is a word already. */
function isWord(word: string): boolean {
  return (
    word.length > 1 && word.length <= maxWordLength && /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー]+$/u.test(word)
  );
}

function firstOf(text: string, at = 0): string {
  return String.fromCodePoint(text.codePointAt(at)!);
}

function readWords(file: string): string[] {
  const lines = readFileSync(file, 'utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/);
  const words = lines
    .filter((line) => !line.startsWith('#'))
    .map((line) => normalise(line.trim().split(/\s/)[0] ?? ''));
  return [...new Set(words.filter(isWord))].slice(0, maxWords).sort();
}

function stampOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats ? `${stats.mtimeMs} ${stats.size} ${stats.ino}` : '';
}

function startsNewLine(file: string): boolean {
  return stampOf(file) === '' || /(^|\n)$/.test(readFileSync(file, 'utf8'));
}

/** Where answers and notes go. On a terminal both share it, and a passing status line shows what is going on. */
import { fitWidth } from './text-width.js';

export interface Screen {
  /** Part of the answer; clean text and our own colours. */
  write(text: string): void;
  /** A line about the answer: on the terminal between it, else on stderr. */
  note(line: string): void;
  /** Ends a line that has begun. */
  freshLine(): void;
  /** A line that the next output replaces; empty: none. Only on a terminal. */
  status(line: string): void;
  readonly columns: number;
}

export interface Output {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

export interface ScreenOptions {
  out: Output;
  /** Default: `out`. Undefined members of the same terminal share the cursor. */
  notes?: Output | undefined;
}

const defaultColumns = 80;
const eraseLine = '\r\x1b[K';

export function createScreen({ out, notes = out }: ScreenOptions): Screen {
  const isShared = out === notes || (out.isTTY === true && notes.isTTY === true);
  const hasStatus = notes.isTTY === true;
  let isAtLineStart = true;
  let isStatusShown = false;

  const clearStatus = () => {
    if (!isStatusShown) return;
    isStatusShown = false;
    notes.write(eraseLine);
  };
  const screen: Screen = {
    write(text) {
      if (text === '') return;
      clearStatus();
      out.write(text);
      // Colours take no place.
      const visible = text.replaceAll(colourCode, '');
      if (visible !== '') isAtLineStart = visible.endsWith('\n');
    },
    note(line) {
      clearStatus();
      if (isShared) screen.freshLine();
      notes.write(`${line}\n`);
    },
    freshLine() {
      clearStatus();
      if (isAtLineStart) return;
      out.write('\n');
      isAtLineStart = true;
    },
    status(line) {
      if (!hasStatus) return;
      clearStatus();
      if (line === '') return;
      if (isShared) screen.freshLine();
      isStatusShown = true;
      notes.write(line);
    },
    get columns() {
      return notes.columns ?? out.columns ?? defaultColumns;
    },
  };
  return screen;
}

/** For a line of text without colours: what fits on one row of the terminal, so that a status can be erased. */
export function fitRow(text: string, screen: Screen): string {
  return fitWidth(text, Math.max(10, screen.columns - 1));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of style.ts begin with one.
const colourCode = /\x1b\[[\d;]*m/g;

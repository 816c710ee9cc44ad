/**
 * The line that is typed: history, Tab, several lines after a trailing backslash or from a paste. Hidden while an answer
 * streams; what is typed then is kept and shown afterwards.
 */
import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline';
import type { Completion } from './completion.js';
import { HideableOutput, type Terminal } from './hideable-output.js';

export interface EditorOptions {
  input: NodeJS.ReadableStream;
  output: Terminal;
  prompt: string;
  /** Of the second line and those after it. */
  continuation: string;
  /** Newest first. */
  history: string[];
  /** One line of what was typed. */
  onLine: (line: string) => void;
  complete: (line: string) => Promise<Completion>;
  /** A whole message; the editor is hidden now. */
  onMessage: (text: string) => void;
  /** Ctrl-C with nothing typed. */
  onInterrupt: () => void;
  /** Ctrl-D, or the terminal is gone. */
  onEnd: () => void;
}

/** The terminal marks what is pasted, so that its line breaks are no Enter. */
const pasteMarks = { on: '\x1b[?2004h', off: '\x1b[?2004l' };

export class Editor {
  readonly #options: EditorOptions;
  readonly #output: HideableOutput;
  readonly #readline: Interface;
  /** Lines of a message that is not complete. */
  #lines: string[] = [];
  #isPasting = false;
  #isClosed = false;

  constructor(options: EditorOptions) {
    this.#options = options;
    this.#output = new HideableOutput(options.output);
    this.#output.isHidden = true;
    options.input.on('keypress', this.#onKeypress);
    this.#readline = createInterface({
      input: options.input,
      output: this.#output,
      terminal: true,
      history: [...options.history],
      historySize: options.history.length + 1000,
      removeHistoryDuplicates: true,
      crlfDelay: Number.POSITIVE_INFINITY,
      prompt: options.prompt,
      completer: (line: string, done: (error: Error | null, result: Completion) => void) => {
        void options.complete(line).then((completion) => done(null, completion));
      },
    });
    this.#readline.on('line', (line) => this.#onLine(line));
    this.#readline.on('SIGINT', () => this.#onInterrupt());
    this.#readline.on('close', () => this.#onClose());
    this.#output.writeThrough(pasteMarks.on);
  }

  show(): void {
    if (this.#isClosed || !this.#output.isHidden) return;
    this.#redraw();
  }

  /** Writes lines above what is being typed. The text ends with a line break. */
  print(write: () => void): void {
    if (this.#isClosed || this.#output.isHidden) {
      write();
      return;
    }
    const { rows } = this.#readline.getCursorPos();
    moveCursor(this.#output, 0, -rows);
    cursorTo(this.#output, 0);
    clearScreenDown(this.#output);
    write();
    this.#redraw();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // What is typed stays behind on a line of its own.
    if (!this.#output.isHidden) this.#output.writeThrough('\n');
    this.#output.isHidden = true;
    this.#readline.close();
    this.#options.input.off('keypress', this.#onKeypress);
    this.#output.writeThrough(pasteMarks.off);
    this.#output.end();
  }

  readonly #onKeypress = (_: string | undefined, key: { name?: string } | undefined) => {
    if (key?.name === 'paste-start') this.#isPasting = true;
    if (key?.name === 'paste-end') this.#isPasting = false;
  };

  #onLine(line: string): void {
    this.#options.onLine(line);
    const goesOn = this.#isPasting || line.endsWith('\\');
    if (goesOn) {
      this.#lines.push(this.#isPasting ? line : line.slice(0, -1));
      this.#prompt();
      return;
    }
    const text = [...this.#lines, line].join('\n');
    this.#lines = [];
    if (text.trim() === '') {
      this.#prompt();
      return;
    }
    this.#output.isHidden = true;
    this.#options.onMessage(text);
  }

  #onInterrupt(): void {
    const isEmpty = this.#readline.line === '' && this.#lines.length === 0;
    if (isEmpty || this.#output.isHidden) {
      this.#options.onInterrupt();
      return;
    }
    this.#lines = [];
    this.#clearLine();
    this.#output.writeThrough('\n');
    this.#prompt();
  }

  #onClose(): void {
    if (!this.#isClosed) this.#options.onEnd();
  }

  #prompt(): void {
    this.#readline.setPrompt(this.#lines.length > 0 ? this.#options.continuation : this.#options.prompt);
    this.#readline.prompt();
  }

  /** Draws prompt and line where the cursor is, at the beginning of an empty row. */
  #redraw(): void {
    const { line, cursor } = this.#readline;
    // Emptied unseen, so that the editor forgets the rows that it had drawn elsewhere.
    this.#output.isHidden = true;
    this.#clearLine();
    this.#output.isHidden = false;
    this.#prompt();
    if (line === '') return;
    this.#readline.write(line);
    for (let at = line.length; at > cursor; at = this.#readline.cursor) {
      this.#readline.write(null, { name: 'left' });
      if (this.#readline.cursor >= at) return;
    }
  }

  #clearLine(): void {
    this.#readline.write(null, { ctrl: true, name: 'e' });
    this.#readline.write(null, { ctrl: true, name: 'u' });
  }
}

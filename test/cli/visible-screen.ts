/** A small terminal: what a person would see after these bytes. Throws at sequences that our programs must not send. */
import { textWidth } from '../../src/cli/terminal/text-width.js';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

export class VisibleScreen {
  readonly columns: number;
  /** Cells by row; the second half of a wide character is ''. */
  #rows: string[][] = [[]];
  #row = 0;
  #column = 0;
  #rest = '';
  /** Private modes that are on, such as `2004`. */
  readonly modes = new Set<string>();

  constructor(columns = 80) {
    this.columns = columns;
  }

  write(text: string): void {
    let left = this.#rest + text;
    this.#rest = '';
    while (left !== '') {
      const at = left.indexOf('\x1b');
      if (at !== 0) {
        const plain = at === -1 ? left : left.slice(0, at);
        this.#plain(plain);
        left = left.slice(plain.length);
        continue;
      }
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what terminals read.
      const match = /^\x1b\[(\??[\d;]*)([A-Za-z])/.exec(left);
      if (!match) {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what terminals read.
        if (!/^\x1b(\[\??[\d;]*)?$/.test(left))
          throw new Error(`forbidden sequence: ${JSON.stringify(left.slice(0, 20))}`);
        this.#rest = left;
        return;
      }
      this.#control(match[1]!, match[2]!);
      left = left.slice(match[0].length);
    }
  }

  get lines(): string[] {
    return this.#rows.map((row) =>
      Array.from(row, (cell) => cell ?? ' ')
        .join('')
        .trimEnd(),
    );
  }

  get text(): string {
    return this.lines.join('\n').trimEnd();
  }

  get cursor(): { row: number; column: number } {
    return { row: this.#row, column: this.#column };
  }

  #plain(text: string): void {
    for (const { segment } of graphemes.segment(text)) {
      if (segment === '\n') this.#newLine();
      else if (segment === '\r\n') {
        this.#newLine();
        this.#column = 0;
      } else if (segment === '\r') this.#column = 0;
      else if (segment === '\b') this.#column = Math.max(0, this.#column - 1);
      else if (segment === '\t') this.#column = Math.min(this.columns - 1, (Math.floor(this.#column / 8) + 1) * 8);
      else if (segment === '\x07') continue;
      else if (/\p{Cc}/u.test(segment)) throw new Error(`forbidden character: ${JSON.stringify(segment)}`);
      else this.#put(segment, textWidth(segment));
    }
  }

  #newLine(): void {
    this.#row += 1;
    // The terminal driver adds the return.
    this.#column = 0;
    this.#rows[this.#row] ??= [];
  }

  #put(character: string, width: number): void {
    if (width === 0) return;
    if (this.#column + width > this.columns) this.#newLine();
    const row = this.#rows[this.#row]!;
    row[this.#column] = character;
    if (width === 2) row[this.#column + 1] = '';
    this.#column += width;
  }

  #control(argument: string, name: string): void {
    const count = Number(argument || '1');
    if (name === 'm') return;
    if (argument.startsWith('?')) {
      if (name === 'h') this.modes.add(argument.slice(1));
      else this.modes.delete(argument.slice(1));
      return;
    }
    // The cursor waits behind the last column until something is written there.
    const column = Math.min(this.#column, this.columns - 1);
    switch (name) {
      case 'A':
        this.#row = Math.max(0, this.#row - count);
        return;
      case 'B':
        this.#row += count;
        this.#rows[this.#row] ??= [];
        return;
      case 'C':
        this.#column = Math.min(this.columns - 1, column + count);
        return;
      case 'D':
        this.#column = Math.max(0, column - count);
        return;
      case 'G':
        this.#column = count - 1;
        return;
      case 'J':
        if (argument !== '' && argument !== '0') throw new Error(`unknown J ${argument}`);
        this.#rows = this.#rows.slice(0, this.#row + 1);
        this.#rows[this.#row]!.length = Math.min(this.#rows[this.#row]!.length, column);
        return;
      case 'K':
        this.#rows[this.#row]!.length = Math.min(this.#rows[this.#row]!.length, column);
        return;
      default:
        throw new Error(`unknown control sequence ${argument}${name}`);
    }
  }
}

/**
 * Paints Markdown as it streams: headings, bold, code. It only adds colours: without them the text is what the model
 * wrote, character for character, so nothing is lost when the guess is wrong.
 */
import type { Look, Style } from './style.js';

/** The most that can be meant as a mark at the beginning of a line: indentation and a fence or a heading. */
const openLine = /^ {0,3}(?:#{0,6}|`*|~*)$/;
const fenceLine = /^ {0,3}(`{3,}|~{3,})/;

export class MarkdownStyler {
  readonly #style: Style;
  /** Beginning of a line whose kind is not known yet; undefined within a line. */
  #lineStart: string | undefined = '';
  /** Marks whose number is not known yet: the run of `*` or of backticks at the end of what came. */
  #marks = '';
  #before = '\n';
  #fence: string | undefined;
  #line: Look | undefined;
  #isBold = false;
  /** Length of the backticks that opened the code; 0 outside. */
  #code = 0;

  constructor(style: Style) {
    this.#style = style;
  }

  push(text: string): string {
    let out = '';
    for (const character of text) out += this.#take(character);
    return out;
  }

  /** What was held back, with everything switched off. */
  end(): string {
    const out = this.#flushLineStart() + this.#flushMarks('\n') + this.#endLine();
    this.#fence = undefined;
    this.#lineStart = '';
    return out;
  }

  #take(character: string): string {
    if (character === '\n') {
      const out = `${this.#flushLineStart()}${this.#flushMarks('\n')}${this.#endLine()}\n`;
      this.#lineStart = '';
      this.#before = '\n';
      return out;
    }
    if (this.#lineStart === undefined) return this.#inline(character);
    const start = this.#lineStart + character;
    if (openLine.test(start)) {
      this.#lineStart = start;
      return '';
    }
    return this.#flushLineStart(character) + this.#inline(character);
  }

  /** Decides what kind of line it is; `next` follows what was held back. */
  #flushLineStart(next = '\n'): string {
    const start = this.#lineStart;
    this.#lineStart = undefined;
    if (start === undefined) return '';
    const fence = fenceLine.exec(start)?.[1];
    if (fence !== undefined && (this.#fence === undefined || fence.startsWith(this.#fence))) {
      this.#fence = this.#fence === undefined ? fence : undefined;
      return this.#begin('dim') + start;
    }
    if (this.#fence !== undefined) return this.#begin('code') + start;
    if (/^ {0,3}#{1,6}$/.test(start) && next === ' ') return this.#begin('heading') + start;
    let out = '';
    for (const character of start) out += this.#inline(character);
    return out;
  }

  #begin(look: Look): string {
    this.#line = look;
    return this.#style.on(look);
  }

  #endLine(): string {
    const { on: _, off } = this.#style;
    const out =
      (this.#isBold ? off('bold') : '') + (this.#code > 0 ? off('code') : '') + (this.#line ? off(this.#line) : '');
    this.#isBold = false;
    this.#code = 0;
    this.#line = undefined;
    return out;
  }

  #inline(character: string): string {
    // A line of its own kind is painted as a whole.
    if (this.#line !== undefined) return character;
    if (this.#marks !== '' && character === this.#marks[0]) {
      this.#marks += character;
      return '';
    }
    const out = this.#flushMarks(character);
    if (character === '`' || (character === '*' && this.#code === 0)) {
      this.#marks = character;
      return out;
    }
    this.#before = character;
    return out + character;
  }

  #flushMarks(next: string): string {
    const marks = this.#marks;
    this.#marks = '';
    if (marks === '') return '';
    const before = this.#before;
    this.#before = marks[0]!;
    const { on, off } = this.#style;
    if (marks[0] === '`') {
      if (this.#code === 0) {
        if (next === '\n') return marks;
        this.#code = marks.length;
        return on('code') + marks;
      }
      if (marks.length !== this.#code) return marks;
      this.#code = 0;
      return marks + off('code');
    }
    if (marks.length < 2) return marks;
    if (!this.#isBold && !/\s/.test(next)) {
      this.#isBold = true;
      return on('bold') + marks;
    }
    if (!this.#isBold || /\s/.test(before)) return marks;
    this.#isBold = false;
    return marks + off('bold');
  }
}

/** The terminal as the line editor sees it. While hidden, what the editor draws is dropped. */
import { Writable } from 'node:stream';

export interface Terminal extends NodeJS.WritableStream {
  isTTY?: boolean;
  columns?: number;
  rows?: number;
}

export class HideableOutput extends Writable {
  readonly isTTY = true;
  isHidden = false;
  readonly #terminal: Terminal;
  readonly #onResize = () => this.emit('resize');

  constructor(terminal: Terminal) {
    super({ decodeStrings: false });
    this.#terminal = terminal;
    terminal.on('resize', this.#onResize);
  }

  get columns(): number {
    return this.#terminal.columns ?? 80;
  }

  get rows(): number {
    return this.#terminal.rows ?? 24;
  }

  /** Past the editor, whether it is hidden or not. */
  writeThrough(text: string): void {
    this.#terminal.write(text);
  }

  override _write(chunk: string | Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (!this.isHidden) this.#terminal.write(chunk);
    done();
  }

  override _final(done: () => void): void {
    this.#terminal.off('resize', this.#onResize);
    done();
  }
}

/** One page of a text file, read without ever holding more of it than a page or a chunk. */
import type { FileHandle } from 'node:fs/promises';
import { ToolError } from '../tool.js';
import { hasBinaryBytes } from './content-kind.js';
import {
  countNewlines,
  type Encoding,
  indexOfNewline,
  isNewlineAt,
  tornStartLength,
  unitBytes,
  wholeCharactersLength,
} from './text-bytes.js';

export interface TextFile {
  handle: FileHandle;
  /** In bytes. */
  size: number;
  encoding: Encoding;
  /** Bytes before the text. */
  bomLength: number;
}

export interface PageRequest {
  /** Counts from 1, the default; below 0: from the end, -1 is the last line. */
  firstLine: number | undefined;
  lineCount: number;
  /** Byte position to begin at, as the page before told it; then `firstLine` only says which line that is. */
  offset: number | undefined;
}

export interface Page {
  text: string;
  /** Where to read on, `line` only where it is known; undefined at the end of the file. */
  next: { line: number | undefined; offset: number } | undefined;
  /** What stands there is not text; `text` is empty. */
  isBinary: boolean;
}

/** Of UTF-8, twice as much of UTF-16: below the bound of tool results whatever the script. */
const pageBytes = 40_000;
/** The most that is held while a line is looked for, from the beginning or from the end. */
const chunkBytes = 256 * 1024;
/** How far into a file a line is looked for by its number. */
const searchBytes = 256 * 1024 ** 2;

/** Throws `ToolError` when there is no such place. */
export async function readTextPage(file: TextFile, request: PageRequest, signal: AbortSignal): Promise<Page> {
  const { encoding } = file;
  const start = await startOfPage(file, request, signal);
  const bytes = await readAt(file, start, pageBytes * unitBytes(encoding));
  const isLast = start + bytes.length >= file.size;
  const page = bytes.subarray(0, endOfPage(encoding, bytes, request.lineCount, isLast));
  const isBinary = encoding === 'utf-8' && hasBinaryBytes(page);
  const firstLine = request.firstLine ?? (request.offset === undefined ? 1 : 0);
  const line = firstLine > 0 ? firstLine + countNewlines(encoding, page) : undefined;
  return {
    text: isBinary ? '' : new TextDecoder(encoding, { ignoreBOM: true }).decode(page),
    next: isLast && page.length === bytes.length ? undefined : { line, offset: start + page.length },
    isBinary,
  };
}

async function startOfPage(file: TextFile, request: PageRequest, signal: AbortSignal): Promise<number> {
  const { firstLine = 1, offset } = request;
  if (firstLine === 0) throw new ToolError('Lines count from 1; -1 is the last one.');
  if (offset === undefined) {
    return firstLine > 0 ? startOfLine(file, firstLine, signal) : startOfTail(file, -firstLine);
  }
  if (offset > file.size) throw new ToolError(`offset ${offset} is past the end: the file has ${file.size} bytes.`);
  const start = Math.max(offset, file.bomLength);
  return start + tornStartLength(file.encoding, await readAt(file, start, 4), start);
}

async function startOfLine(file: TextFile, wanted: number, signal: AbortSignal): Promise<number> {
  const { encoding, size } = file;
  let position = file.bomLength;
  let line = 1;
  while (line < wanted) {
    signal.throwIfAborted();
    if (position >= searchBytes) {
      throw new ToolError(
        'That line lies beyond the first 256 MiB. Count from the end (first_line: -100) or give an offset.',
      );
    }
    const chunk = await readAt(file, position, chunkBytes);
    if (chunk.length === 0) throw new ToolError(`The file has ${line} line${line === 1 ? '' : 's'} only.`);
    let end = chunk.length;
    for (let newline = indexOfNewline(encoding, chunk, 0); newline !== -1 && line < wanted; ) {
      end = newline + unitBytes(encoding);
      // The newline at the very end does not begin another line.
      if (position + end < size) line += 1;
      newline = indexOfNewline(encoding, chunk, end);
    }
    position += line === wanted ? end : chunk.length;
  }
  return position;
}

async function startOfTail(file: TextFile, lineCount: number): Promise<number> {
  const { encoding, size, bomLength } = file;
  const unit = unitBytes(encoding);
  const whole = size - ((size - bomLength) % unit);
  const from = Math.max(bomLength, whole - chunkBytes);
  const bytes = await readAt(file, from, whole - from);
  let found = 0;
  // Begins before the newline that ends the last line.
  for (let index = bytes.length - 2 * unit; index >= 0; index -= unit) {
    if (isNewlineAt(encoding, bytes, index)) found += 1;
    if (found === lineCount) return from + index + unit;
  }
  return from === bomLength ? from : from + tornStartLength(encoding, bytes, from);
}

/** Whole lines where there are any, else whole characters. */
function endOfPage(encoding: Encoding, bytes: Buffer, lineCount: number, isLast: boolean): number {
  let end = 0;
  for (let line = 0; line < lineCount; line += 1) {
    const newline = indexOfNewline(encoding, bytes, end);
    if (newline === -1) return isLast ? bytes.length : end || wholeCharactersLength(encoding, bytes);
    end = newline + unitBytes(encoding);
  }
  return end;
}

async function readAt({ handle, size }: TextFile, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - position)));
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

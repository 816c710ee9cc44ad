/**
 * Reads a body chunk by chunk and gives the bytes that the SDK may read: whole lines, odd frames put right, a blank
 * line at the end. Lines that need nothing go through untouched; only the unfinished line is kept.
 */
import type { WireErrors } from '../errors.js';
import { type Frame, type FrameRules, isObject } from './frame-rules.js';

const maxLineLength = 16 * 1024 * 1024;
const maxPageLength = 16 * 1024;
const fieldStart = /^(data|event|id|retry)?:/;

export interface FrameStream {
  /** Bytes to hand on, perhaps none. Throws `ProviderError` for an error frame. */
  feed(chunk: Uint8Array): Uint8Array;
  /** The last bytes. Throws `ProviderError` when the body was not a stream and not an answer either. */
  end(): Uint8Array;
}

export function createFrameStream(rules: FrameRules, errors: WireErrors): FrameStream {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = '';
  let kind: BodyKind = 'unknown';

  function lines(text: string): string {
    let result = '';
    let start = 0;
    let copied = 0;
    for (let stop = text.indexOf('\n'); stop !== -1; stop = text.indexOf('\n', start)) {
      if (text.startsWith('data:', start)) {
        const line = text.slice(start, stop);
        if (!rules.passes(line)) {
          const changed = changedLine(line);
          if (changed !== undefined) {
            result += text.slice(copied, start) + changed;
            copied = stop;
          }
        }
      }
      start = stop + 1;
    }
    return copied === 0 ? text : result + text.slice(copied);
  }

  /** Undefined: leave it as it is. */
  function changedLine(line: string): string | undefined {
    const payload = line.slice(5).trim();
    if (payload === '' || payload === '[DONE]') return undefined;
    let frame: unknown;
    try {
      frame = JSON.parse(payload);
    } catch {
      return undefined; // part of a frame over several lines, or broken: the SDK decides
    }
    const error = errors.ofPayload(frame);
    if (error) throw error;
    const rewritten = isObject(frame) ? rules.rewrite(frame) : undefined;
    return rewritten ? `data: ${JSON.stringify(rewritten)}` : '';
  }

  function answer(text: string): string {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw errors.of('network', 'The answer was cut off: incomplete JSON came instead of a stream.');
    }
    const error = errors.ofPayload(value);
    if (error) throw error;
    const frames = isObject(value) ? rules.fromAnswer(value) : undefined;
    if (frames) return framesText([...frames, ...rules.end()]);
    throw errors.of(
      'bad-request',
      `The platform did not stream: ${text.slice(0, 200)} If it cannot, set "stream": false.`,
    );
  }

  function step(text: string): string {
    rest += text;
    if (kind === 'unknown') kind = kindOf(rest);
    if (kind === 'page' && rest.length > maxPageLength) throw pageError(rest);
    if (rest.length > maxLineLength) throw errors.of('bad-request', 'The platform sent a line that is far too long.');
    // Only the new part is searched: a long line may come in very many pieces.
    const newline = text.lastIndexOf('\n');
    if (kind !== 'stream' || newline === -1) return '';
    const end = rest.length - text.length + newline + 1;
    const whole = rest.slice(0, end);
    rest = rest.slice(end);
    return lines(whole);
  }

  function pageError(text: string): unknown {
    if (!text.trimStart().startsWith('<')) return errors.ofPayload({ error: text.slice(0, 500) });
    return errors.of('bad-request', 'A web page came instead of an answer: the base URL seems to be wrong.');
  }

  return {
    feed(chunk) {
      const hadRest = rest !== '';
      const text = decoder.decode(chunk, { stream: true });
      const ready = step(text);
      const isUntouched = !hadRest && rest === '' && ready.length === text.length && ready === text;
      return isUntouched ? chunk : encoder.encode(ready);
    },
    end() {
      const ready = step(`${decoder.decode()}\n\n`);
      if (kind === 'page') throw pageError(rest);
      if (kind === 'json') return encoder.encode(answer(rest.trim()));
      return encoder.encode(ready + framesText(rules.end()));
    },
  };
}

type BodyKind = 'unknown' | 'stream' | 'json' | 'page';

function kindOf(text: string): BodyKind {
  const start = text.trimStart();
  if (start === '') return 'unknown';
  if (start[0] === '{' || start[0] === '[') return 'json';
  if (fieldStart.test(start)) return 'stream';
  return start.length < 'event:'.length && !start.includes('\n') ? 'unknown' : 'page';
}

function framesText(frames: Frame[]): string {
  return frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('');
}

/** Colours and weights, or nothing where they are not wanted. */
import type { Environment } from '../../config/environment.js';

export type Look = 'bold' | 'dim' | 'heading' | 'code' | 'accent' | 'good' | 'bad';

export interface Style {
  on(look: Look): string;
  off(look: Look): string;
  paint(look: Look, text: string): string;
}

const codes: Record<Look, readonly [on: string, off: string]> = {
  bold: ['\x1b[1m', '\x1b[22m'],
  dim: ['\x1b[2m', '\x1b[22m'],
  heading: ['\x1b[1;36m', '\x1b[22;39m'],
  code: ['\x1b[36m', '\x1b[39m'],
  accent: ['\x1b[34m', '\x1b[39m'],
  good: ['\x1b[32m', '\x1b[39m'],
  bad: ['\x1b[31m', '\x1b[39m'],
};

export function createStyle(hasColor: boolean): Style {
  if (!hasColor) return { on: () => '', off: () => '', paint: (_, text) => text };
  return {
    on: (look) => codes[look][0],
    off: (look) => codes[look][1],
    paint: (look, text) => `${codes[look][0]}${text}${codes[look][1]}`,
  };
}

/** See https://no-color.org */
export function wantsColor(stream: { isTTY?: boolean }, env: Environment): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
}

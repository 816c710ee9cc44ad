/** The streams of a program that runs on a terminal, and what a person sees and types there. */
import { PassThrough, Writable } from 'node:stream';
import type { ChatStreams } from '../../src/cli/chat.js';
import { until } from '../client/ground.js';
import { VisibleScreen } from './visible-screen.js';

export interface FakeTerminal extends ChatStreams {
  screen: VisibleScreen;
  /** Everything written to stdout. */
  readonly raw: string;
  type(text: string): void;
  /** Waits until the screen shows this. */
  shows(text: string | RegExp): Promise<void>;
}

export function fakeTerminal(
  options: { columns?: number; env?: Record<string, string>; isTTY?: boolean } = {},
): FakeTerminal {
  const { columns = 80, env = {}, isTTY = true } = options;
  const screen = new VisibleScreen(columns);
  let raw = '';
  const stdin = Object.assign(new PassThrough(), { isTTY, setRawMode: () => {} });
  const stdout = Object.assign(
    new Writable({
      decodeStrings: false,
      write(chunk: string | Buffer, _, done) {
        raw += chunk.toString();
        if (isTTY) screen.write(chunk.toString());
        done();
      },
    }),
    { isTTY, columns, rows: 24 },
  );
  return {
    stdin,
    stdout,
    stderr: stdout,
    env,
    screen,
    get raw() {
      return raw;
    },
    type: (text) => stdin.write(text),
    async shows(text) {
      const isShown = () => (typeof text === 'string' ? screen.text.includes(text) : text.test(screen.text));
      await until(isShown, `the screen showing ${text}`).catch((error: Error) => {
        throw new Error(`${error.message}; it shows:\n${screen.text}`);
      });
    },
  };
}

/** One log file. Failing to write a line (a full disk) never stops the daemon: lines are dropped until it works again. */
import { mkdirSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

const maxBytes = 10 * 1024 * 1024;
const kept = 3;

export interface LogFile {
  write(line: string): void;
}

/** Opens for appending; a file above 10 MB becomes `.1`, the older ones move on, `.3` goes. */
export function openLogFile(file: string): LogFile {
  let descriptor: number | undefined;
  let dropped = 0;
  const open = () => {
    if (descriptor !== undefined) return descriptor;
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    rotate(file);
    descriptor = openSync(file, 'a', 0o600);
    return descriptor;
  };
  attempt(open);
  return {
    write(line) {
      const isWritten = attempt(() => {
        const target = open();
        if (dropped > 0) {
          writeWhole(
            target,
            `{"level":"warn","time":"${new Date().toISOString()}","dropped":${dropped},"msg":"log lines dropped"}\n`,
          );
          dropped = 0;
        }
        writeWhole(target, line);
      });
      if (!isWritten) dropped++;
    },
  };
}

function writeWhole(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
}

function rotate(file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) <= maxBytes) return;
  for (let number = kept - 1; number >= 1; number--) {
    attempt(() => renameSync(`${file}.${number}`, `${file}.${number + 1}`));
  }
  renameSync(file, `${file}.1`);
}

function attempt(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

/** The structured log: JSON lines in a file, and on stderr what a person or a log collector wants to see. */
import { pino } from 'pino';
import { createRedactor, type Redactor } from '../config/redact.js';
import type { Config } from '../config/schema.js';
import { CodedError } from '../protocol/errors.js';
import { openLogFile } from './log-file.js';

type Write = (fields: Record<string, unknown>, message: string) => void;

/** The message is a constant, data are fields; an error goes into the field `err`. No message text above debug. */
export interface Logger {
  trace: Write;
  debug: Write;
  info: Write;
  warn: Write;
  error: Write;
  /** A logger that adds `fields` to every line. */
  child(fields: Record<string, unknown>): Logger;
}

export interface LogOptions {
  level: Config['log']['level'];
  /** Replaced wherever they occur: in messages, fields, error texts and stacks. */
  secrets: Iterable<string>;
  /** Absolute path; rotated when it is too large at the start. Without it only stderr is written. */
  file?: string;
  /** On a terminal: short lines, warnings and errors only. Else: the same JSON lines as the file. */
  stderr?: { write(text: string): unknown; isTTY?: boolean };
}

export function createLogger(options: LogOptions): Logger {
  if (options.level === 'silent') return silentLogger();
  const redact = createRedactor(options.secrets);
  const file = options.file === undefined ? undefined : openLogFile(options.file);
  const { stderr } = options;
  const destination = {
    write(rawLine: string) {
      const line = cleaned(rawLine, redact);
      file?.write(line);
      if (!stderr) return;
      if (!stderr.isTTY) stderr.write(line);
      else if (/^\{"level":"(warn|error)"/.test(line)) stderr.write(shortLine(line));
    },
  };
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describe },
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
}

export function silentLogger(): Logger {
  const nothing = () => {};
  const logger: Logger = {
    trace: nothing,
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: nothing,
    child: () => logger,
  };
  return logger;
}

/**
 * Only these members of an error: libraries hang whole requests on theirs, with headers and message text.
 * `depth` bounds a chain of causes that bites its own tail.
 */
function describe(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : { type: typeof error };
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    ...(typeof code === 'string' && { code }),
    message: error.message,
    // The user's own mistakes and known failures need no stack; our bugs do.
    ...(!(error instanceof CodedError) && { stack: error.stack }),
    ...(error.cause !== undefined && depth < 5 && { cause: describe(error.cause, depth + 1) }),
  };
}

/** Without secrets, and still JSON: a secret may begin with the letter of an escape sequence (`\\n…`). */
function cleaned(rawLine: string, redact: Redactor): string {
  const line = redact(rawLine);
  if (line === rawLine) return line;
  try {
    JSON.parse(line);
    return line;
  } catch {
    return `{"level":"warn","time":"${new Date().toISOString()}","msg":"a line held a secret and was left out"}\n`;
  }
}

/** `12:00:01 warn  channel failed  channel=telegram  err: 401 Unauthorized` */
function shortLine(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const shown = Object.entries(fields)
    .filter(([, value]) => typeof value !== 'object')
    .map(([name, value]) => `  ${name}=${value}`);
  const reason = err && typeof err === 'object' && 'message' in err ? `  err: ${err.message}` : '';
  const text = `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${msg}${shown.join('')}${reason}`;
  // A field may come from a stranger: no escape sequence of theirs reaches the terminal.
  return `${text.replace(/\p{Cc}/gu, ' ')}\n`;
}

/** `picobot ask`: one question, one answer; made for pipes. */
import { streamChat } from '../client/chat-stream.js';
import { type ConnectionChoice, resolveConnection } from '../client/connection.js';
import { findSession } from '../client/find-session.js';
import { createHttpClient, type HttpClient } from '../client/http.js';
import { processEnvironment } from '../config/environment.js';
import { UserError } from '../protocol/errors.js';
import type { AgentEvent, EventOf } from '../protocol/events.js';
import { readInput } from './ask/read-input.js';
import { stopOnInterrupt } from './ask/stop-on-interrupt.js';
import { errorText } from './report-error.js';
import { type AnswerView, createAnswerView } from './terminal/answer-view.js';
import { cleanLine, cleanText } from './terminal/clean-text.js';
import { createScreen } from './terminal/screen.js';
import { createStyle, wantsColor } from './terminal/style.js';
import { fitWidth } from './terminal/text-width.js';

export interface AskOptions extends ConnectionChoice {
  /** Default: a new dialog. */
  session?: string;
  json?: boolean;
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  stdout: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  stderr: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
}

/** Dialogs of single questions are kept apart from those of the chat. */
const ownChat = { channel: 'cli_chat', chatId: 'ask' };
const titleColumns = 50;

/** 0: answered; 1: failed, stopped, or ended in another way; 2: nothing was asked. */
export async function askCommand(argument: string | undefined, options: AskOptions): Promise<number> {
  const { stdout, stderr } = options;
  // Whoever reads us may leave early.
  for (const stream of [stdout, stderr]) stream.on('error', () => {});
  try {
    const text = await readInput(argument, options.stdin, (line) => {
      if (stderr.isTTY) stderr.write(`${line}\n`);
    });
    if (text.trim() === '') {
      stderr.write('error: nothing was asked. Give the text as an argument or through a pipe: picobot ask "…"\n');
      return 2;
    }
    return await ask(text, options);
  } catch (error) {
    stderr.write(`${errorText(error)}\n`);
    return 1;
  }
}

async function ask(text: string, options: AskOptions): Promise<number> {
  const { stdout, stderr, json = false } = options;
  const connection = resolveConnection(options);
  const http = createHttpClient(connection);
  const sessionId = await chooseSession(http, text, options.session);
  const env = processEnvironment();
  const isLive = stdout.isTTY === true && !json;
  const screen = createScreen({ out: stdout, notes: stderr });
  const style = createStyle(isLive ? wantsColor(stdout, env) : wantsColor(stderr, env));
  const view = createAnswerView({ screen, style, hasDetails: stderr.isTTY === true });
  const interrupt = stopOnInterrupt({
    stop: () => http.stop(sessionId),
    note: (line) => screen.note(style.paint('dim', line)),
  });

  let end: EventOf<'run-end'> | undefined;
  let isTaken = false;
  try {
    screen.status(style.paint('dim', '…'));
    const messageId = crypto.randomUUID();
    const onBreak = () => screen.note(style.paint('dim', 'The connection broke; trying again.'));
    for await (const event of streamChat({
      ...connection,
      sessionId,
      messageId,
      text,
      signal: interrupt.signal,
      onBreak,
    })) {
      // The wish may have come before there was a run to stop.
      if (!isTaken && interrupt.isStopping) await http.stop(sessionId);
      isTaken = true;
      show(event, view, isLive);
      if (event.type === 'run-end') end = event;
    }
  } catch (error) {
    screen.status('');
    // Nobody will miss a dialog without a message.
    if (!isTaken && options.session === undefined && isRefusal(error))
      await http.deleteSession(sessionId).catch(() => {});
    if (interrupt.signal.aborted) return 1;
    throw error;
  } finally {
    interrupt.release();
  }
  if (!end) return 1;
  screen.status('');
  if (isLive) view.end(end);
  else {
    if (end.error) view.problem(end.error);
    await print(stdout, json ? `${JSON.stringify(jsonAnswer(end), null, 2)}\n` : wholeText(end.text));
    if (!end.error && end.stopReason !== 'end_turn') stderr.write(`error: the answer ended with "${end.stopReason}"\n`);
  }
  return end.stopReason === 'end_turn' ? 0 : 1;
}

async function chooseSession(http: HttpClient, text: string, session: string | undefined): Promise<string> {
  if (session !== undefined) return (await findSession(http, session)).id;
  const title = fitWidth(cleanLine(text.slice(0, 500)), titleColumns);
  return (await http.createSession({ ...ownChat, title: title || 'ask' })).id;
}

function show(event: AgentEvent, view: AnswerView, isLive: boolean): void {
  switch (event.type) {
    case 'run-start':
      if (event.attempt > 1) view.restart();
      return;
    case 'text-delta':
      if (isLive) view.text(event.text);
      return;
    case 'reasoning-delta':
      if (isLive) view.reasoning(event.text);
      return;
    case 'notice':
      if (isLive) view.notice(event.text);
      return;
    case 'tool-call':
      view.tool({ id: event.callId, name: event.name, input: event.input, state: 'running' });
      return;
    case 'tool-result':
      view.tool({ id: event.callId, name: event.name, input: null, state: event.state, result: event.output });
      return;
    case 'run-end':
      if (event.error && isLive) view.problem(event.error);
  }
}

function jsonAnswer({ sessionId, runId, text, stopReason, usage, error }: EventOf<'run-end'>): object {
  return { sessionId, runId, text, stopReason, usage, ...(error && { error }) };
}

function wholeText(text: string): string {
  const clean = cleanText(text);
  return clean === '' || clean.endsWith('\n') ? clean : `${clean}\n`;
}

/** Resolves when the text is out, or when nobody reads any more. */
function print(stream: NodeJS.WritableStream, text: string): Promise<void> {
  return new Promise((resolve) => {
    stream.write(text, () => resolve());
  });
}

function isRefusal(error: unknown): boolean {
  return error instanceof UserError && error.status >= 400 && error.code !== 'connection_lost';
}

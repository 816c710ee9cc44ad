/** `picobot chat`: talks with the running daemon, on a terminal or through pipes. */
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { connect } from '../client/client.js';
import { type ConnectionChoice, type ConnectionTarget, resolveConnection } from '../client/connection.js';
import { createHttpClient, type HttpClient } from '../client/http.js';
import type { ConnectionState } from '../client/link.js';
import { type Environment, processEnvironment } from '../config/environment.js';
import { resolveHome } from '../config/home.js';
import type { DaemonStatus } from '../protocol/status.js';
import { ChatLoop } from './chat/chat-loop.js';
import { complete } from './chat/completion.js';
import { type Dialog, openingDialog, ownChat } from './chat/dialog.js';
import { Editor } from './chat/editor.js';
import type { Terminal } from './chat/hideable-output.js';
import { openHistory } from './chat/history-file.js';
import { plainChat } from './chat/plain-chat.js';
import { cleanLine } from './terminal/clean-text.js';
import { createScreen, fitRow } from './terminal/screen.js';
import { createStyle, wantsColor } from './terminal/style.js';

export interface ChatOptions extends ConnectionChoice {
  /** Default: the dialog that is current in the terminal's chat. */
  session?: string;
  /** Every frame as a line of JSON, without a prompt. */
  json?: boolean;
}

/** What the chat reads and writes. */
export interface ChatStreams {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  stdout: Terminal;
  stderr: Terminal;
  env: Environment;
}

interface Chat extends ChatStreams {
  target: ConnectionTarget;
  http: HttpClient;
  dialog: Dialog;
}

/** Throws `UserError` when the daemon does not answer or the dialog is not there. */
export async function chatCommand(options: ChatOptions, streams: ChatStreams = processStreams()): Promise<number> {
  const target = resolveConnection(options, streams.env);
  const http = createHttpClient(target);
  const status = await http.status();
  const chat = { ...streams, target, http, dialog: await openingDialog(http, options.session) };
  const isInteractive = streams.stdin.isTTY && streams.stdout.isTTY && !options.json && streams.env.TERM !== 'dumb';
  return isInteractive ? interactive(chat, status) : plain(chat, options.json ?? false);
}

function processStreams(): ChatStreams {
  const { stdin, stdout, stderr } = process;
  return { stdin, stdout, stderr, env: processEnvironment() };
}

async function interactive(chat: Chat, status: DaemonStatus): Promise<number> {
  const { stdin, stdout, env, http, dialog } = chat;
  const screen = createScreen({ out: stdout });
  const style = createStyle(wantsColor(stdout, env));
  const note = (text: string) => screen.note(style.paint('dim', fitRow(text, screen)));
  note(`PicoBot ${cleanLine(status.version)} · ${cleanLine(status.model)} · ${cleanLine(dialog.title)}`);
  note('/help lists the commands, Ctrl-C stops an answer, Ctrl-D quits.');

  const history = openHistory(join(resolveHome(env).home, 'chat-history'), note);
  // Editor, client and loop tell each other what happens; nothing does before the loop is there.
  let loop: ChatLoop | undefined;
  const editor = new Editor({
    input: stdin,
    output: stdout,
    prompt: '› ',
    continuation: '… ',
    history: history.entries,
    onLine: (line) => history.add(line),
    complete: (line) => complete(line, http, dialog),
    onMessage: (text) => loop?.onMessage(text),
    onInterrupt: () => loop?.onInterrupt(),
    onEnd: () => loop?.onEnd(),
  });
  const client = openClient(chat, (state) => loop?.onState(state));
  loop = new ChatLoop({ client, http, editor, screen, style, dialog });
  const leave = onSignals(() => loop?.onEnd());
  try {
    return await loop.run();
  } finally {
    leave();
    editor.close();
    screen.freshLine();
    client.close();
  }
}

async function plain(chat: Chat, json: boolean): Promise<number> {
  const abort = new AbortController();
  const client = openClient(chat, () => {});
  let isStopping = false;
  const leave = onSignals(() => {
    if (isStopping) client.close();
    isStopping = true;
    abort.abort();
  });
  try {
    return await plainChat({ ...chat, client, json, signal: abort.signal });
  } finally {
    leave();
    client.close();
  }
}

function openClient({ target }: Chat, onState: (state: ConnectionState) => void) {
  const signal = new AbortController().signal;
  return connect({ ...target, channel: 'cli_chat', chat: ownChat.chatId, signal, WebSocket, onState });
}

/** Ends that come from outside; a terminal's own Ctrl-C reaches the editor instead. */
function onSignals(action: () => void): () => void {
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of names) process.on(name, action);
  return () => {
    for (const name of names) process.off(name, action);
  };
}

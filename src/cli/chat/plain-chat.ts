/** The chat without a terminal: a message per line of input, the answers on stdout, or every frame as a line of JSON. */
import type { Client } from '../../client/client.js';
import type { HttpClient } from '../../client/http.js';
import { describeError } from '../../protocol/errors.js';
import { createAnswerView } from '../terminal/answer-view.js';
import { createScreen, type Output } from '../terminal/screen.js';
import { createStyle } from '../terminal/style.js';
import { currentDialog, type Dialog } from './dialog.js';
import { readLines } from './read-lines.js';
import { showFrame } from './show-frames.js';
import { isQuit, mayMove } from './slash-commands.js';

export interface PlainChatOptions {
  client: Client;
  http: HttpClient;
  dialog: Dialog;
  json: boolean;
  stdin: NodeJS.ReadableStream;
  stdout: Output;
  stderr: Output;
  /** Aborts when the chat is to end. */
  signal: AbortSignal;
}

/** 0 when every message got its answer. */
export async function plainChat(options: PlainChatOptions): Promise<number> {
  const { client, http, json, stdin, stdout, stderr, signal } = options;
  let { dialog } = options;
  let code = 0;
  for await (const text of readLines(stdin, signal)) {
    if (text.trim() === '') continue;
    if (isQuit(text)) break;
    const isAnswered = await answer(text).catch(tellFailure);
    if (!isAnswered) code = 1;
    if (client.state.name === 'closed') return 1;
    if (mayMove(text)) dialog = await currentDialog(http, dialog);
  }
  return signal.aborted ? 1 : code;

  function tellFailure(error: unknown): false {
    const { code: name, message } = describeError(error);
    if (json) stdout.write(`${JSON.stringify({ type: 'error', content: { code: name, message } })}\n`);
    else stderr.write(`error: ${message} (${name})\n`);
    return false;
  }

  async function answer(text: string): Promise<boolean> {
    const turn = client.send(text, { sessionId: dialog.id });
    const stop = () => turn.stop();
    signal.addEventListener('abort', stop);
    const screen = createScreen({ out: stdout, notes: stderr });
    const view = createAnswerView({ screen, style: createStyle(false), hasDetails: false });
    let isAnswered = false;
    try {
      for await (const frame of turn) {
        if (json) stdout.write(`${JSON.stringify(frame)}\n`);
        else showFrame(frame, view);
        if (frame.type === 'end') isAnswered = frame.content.stopReason === 'end_turn';
      }
    } finally {
      signal.removeEventListener('abort', stop);
    }
    return isAnswered;
  }
}

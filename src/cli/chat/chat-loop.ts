/** The chat on a terminal: one dialog at a time, one answer at a time; what others do there is shown in between. */
import type { Client } from '../../client/client.js';
import type { HttpClient } from '../../client/http.js';
import type { ConnectionState } from '../../client/link.js';
import type { ClientTurn } from '../../client/turn.js';
import type { DialogFrame } from '../../client/watch.js';
import type { VisibleMessage } from '../../protocol/control.js';
import { CodedError, describeError } from '../../protocol/errors.js';
import { createAnswerView } from '../terminal/answer-view.js';
import { cleanLine } from '../terminal/clean-text.js';
import { fitRow, type Screen } from '../terminal/screen.js';
import type { Style } from '../terminal/style.js';
import { currentDialog, type Dialog } from './dialog.js';
import type { Editor } from './editor.js';
import { messageText, showFrame } from './show-frames.js';
import { isQuit, mayMove } from './slash-commands.js';

export interface ChatParts {
  client: Client;
  http: HttpClient;
  editor: Editor;
  screen: Screen;
  style: Style;
  dialog: Dialog;
}

/** Messages that are shown when a dialog is opened. */
const shownAtStart = 4;
/** Typed while an answer streams, and sent after it. */
const maxQueued = 20;
/** Messages of others that wait until an answer is complete; older ones are left out. */
const maxHeldBack = 50;

export class ChatLoop {
  readonly #parts: ChatParts;
  readonly #queue: string[] = [];
  readonly #ownMessages = new Set<string>();
  /** Of the dialog that is open. */
  #dialog: Dialog;
  #newestShown = 0;
  #heldBack: VisibleMessage[] = [];
  #watch: AsyncIterator<DialogFrame> | undefined;
  #running: ClientTurn | undefined;
  #isBusy = false;
  #isStopping = false;
  #wantsToQuit = false;
  #isLost = false;
  #quit: (code: number) => void = () => {};

  constructor(parts: ChatParts) {
    this.#parts = parts;
    this.#dialog = parts.dialog;
  }

  /** Until the person leaves (0) or the daemon refuses us (1). */
  async run(): Promise<number> {
    const left = new Promise<number>((resolve) => {
      this.#quit = resolve;
    });
    void this.#follow();
    this.#parts.editor.show();
    return left;
  }

  onMessage(text: string): void {
    if (isQuit(text)) {
      this.onEnd();
      return;
    }
    if (!this.#isBusy) {
      void this.#answer(text);
      return;
    }
    // Stopping cannot wait for the end of what it stops.
    if (/^\/stop\s*$/i.test(text)) this.#stop();
    else if (this.#queue.length < maxQueued) this.#queue.push(text);
    else this.#note(`${maxQueued} messages wait already; this one was not taken.`);
  }

  onInterrupt(): void {
    if (this.#wantsToQuit || this.#isStopping) {
      this.onEnd();
      return;
    }
    if (this.#running) {
      this.#stop();
      return;
    }
    this.#wantsToQuit = true;
    this.#note('Ctrl-C once more quits; so does Ctrl-D.');
  }

  onEnd(): void {
    if (this.#running && !this.#isStopping) this.#note('The answer goes on in the daemon; it is in the dialog.');
    this.#quit(0);
  }

  onState(state: ConnectionState): void {
    if (state.name === 'waiting' && !this.#isLost) {
      this.#isLost = true;
      this.#note('Connection lost; trying again …');
    } else if (state.name === 'open' && this.#isLost) {
      this.#isLost = false;
      this.#note('Connected again.');
    } else if (state.name === 'closed' && state.error instanceof CodedError) {
      this.#problem(state.error);
      this.#quit(1);
    }
  }

  #stop(): void {
    if (!this.#running) return;
    this.#isStopping = true;
    this.#queue.length = 0;
    this.#running.stop();
    const { screen, style } = this.#parts;
    screen.status(style.paint('dim', 'Stopping …'));
  }

  /** Answers the text, then what was typed meanwhile. */
  async #answer(text: string): Promise<void> {
    const { editor, screen, style } = this.#parts;
    this.#isBusy = true;
    this.#wantsToQuit = false;
    for (let next: string | undefined = text; next !== undefined; next = this.#queue.shift()) {
      if (next !== text) screen.note(style.paint('accent', `› ${next.replaceAll('\n', '\n  ')}`));
      await this.#answerOne(next);
    }
    this.#isBusy = false;
    this.#showHeldBack();
    editor.show();
  }

  async #answerOne(text: string): Promise<void> {
    const { client, screen, style } = this.#parts;
    const view = createAnswerView({ screen, style, hasDetails: true });
    let isGone = false;
    try {
      const turn = client.send(text, { sessionId: this.#dialog.id });
      this.#remember(turn.messageId);
      this.#running = turn;
      screen.status(style.paint('dim', '…'));
      for await (const frame of turn) showFrame(frame, view);
    } catch (error) {
      screen.status('');
      this.#problem(error);
      isGone = error instanceof CodedError && error.code === 'session_not_found';
    } finally {
      this.#running = undefined;
      this.#isStopping = false;
    }
    if (isGone || mayMove(text)) await this.#move();
  }

  /** Goes to where a command has led. */
  async #move(): Promise<void> {
    try {
      const next = await currentDialog(this.#parts.http, this.#dialog);
      if (next.id === this.#dialog.id) return;
      this.#dialog = next;
      this.#newestShown = 0;
      this.#heldBack = [];
      this.#note(`— ${cleanLine(next.title)} (${cleanLine(next.id)}) —`);
      void this.#follow();
    } catch (error) {
      this.#problem(error);
    }
  }

  /** Shows what is in the dialog and what others add, until another dialog is opened. */
  async #follow(): Promise<void> {
    const { client } = this.#parts;
    const { id } = this.#dialog;
    let isFirst = true;
    try {
      await this.#watch?.return?.();
      const frames = client.subscribe(id);
      this.#watch = frames[Symbol.asyncIterator]();
      for await (const frame of frames) {
        if (id !== this.#dialog.id) return;
        if (frame.type === 'sync') {
          const news = this.#newsIn(frame.content.messages);
          this.#take(isFirst ? news.slice(-shownAtStart) : news);
          isFirst = false;
        } else if (frame.type === 'history/add') this.#take(frame.content);
      }
    } catch (error) {
      // The client tells of its own end; a message to the dialog will tell of a dialog that is gone.
      if (client.state.name !== 'closed' && id === this.#dialog.id) this.#problem(error);
    }
  }

  /** What was not shown yet and is no part of an answer of ours. */
  #newsIn(messages: readonly VisibleMessage[]): VisibleMessage[] {
    const ownRuns = new Set(
      messages.flatMap(({ messageId, runId }) => (messageId && this.#ownMessages.has(messageId) ? [runId] : [])),
    );
    return messages.filter((message) => message.id > this.#newestShown && !ownRuns.has(message.runId));
  }

  #take(messages: readonly VisibleMessage[]): void {
    for (const message of messages) this.#newestShown = Math.max(this.#newestShown, message.id);
    this.#heldBack = [...this.#heldBack, ...messages].slice(-maxHeldBack);
    if (!this.#isBusy) this.#showHeldBack();
  }

  #showHeldBack(): void {
    const messages = this.#heldBack;
    this.#heldBack = [];
    if (messages.length === 0) return;
    const { editor, screen, style } = this.#parts;
    editor.print(() => {
      for (const message of messages) screen.write(messageText(message, style));
      screen.freshLine();
    });
  }

  #remember(messageId: string): void {
    this.#ownMessages.add(messageId);
    if (this.#ownMessages.size > 500) this.#ownMessages.delete(this.#ownMessages.values().next().value!);
  }

  #note(text: string): void {
    const { editor, screen, style } = this.#parts;
    editor.print(() => screen.note(style.paint('dim', fitRow(text, screen))));
  }

  #problem(error: unknown): void {
    const { editor, screen, style } = this.#parts;
    const { code, message } = describeError(error);
    editor.print(() => screen.note(style.paint('bad', `⚠ ${cleanLine(message)} (${cleanLine(code)})`)));
  }
}

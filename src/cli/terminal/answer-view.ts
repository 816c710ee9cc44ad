/** Shows one answer as it comes: text, reasoning, tool calls, how it ended. */
import type { StopReason } from '../../protocol/events.js';
import type { ToolCallView } from '../../protocol/frames.js';
import { cleanLine, cleanText, TextCleaner } from './clean-text.js';
import { MarkdownStyler } from './markdown-styler.js';
import { fitRow, type Screen } from './screen.js';
import type { Style } from './style.js';
import { toolLine } from './tool-line.js';

export interface AnswerView {
  text(text: string): void;
  reasoning(text: string): void;
  tool(view: ToolCallView): void;
  notice(text: string): void;
  problem(error: { code: string; message: string }): void;
  /** The unfinished step comes anew. */
  restart(): void;
  end(end: { stopReason: StopReason; text: string }): void;
}

export interface AnswerViewOptions {
  screen: Screen;
  style: Style;
  /** False: the answer alone. */
  hasDetails: boolean;
}

export function createAnswerView({ screen, style, hasDetails }: AnswerViewOptions): AnswerView {
  const styler = new MarkdownStyler(style);
  const textCleaner = new TextCleaner();
  const reasoningCleaner = new TextCleaner();
  const running = new Map<string, ToolCallView>();
  let mode: 'nothing' | 'text' | 'reasoning' = 'nothing';
  let shown = '';

  /** Ends what streams, so that a line of another kind can follow. */
  const leave = () => {
    if (mode === 'text') screen.write(styler.push(textCleaner.end()) + styler.end());
    if (mode === 'reasoning') screen.write(style.paint('dim', reasoningCleaner.end()));
    if (mode !== 'nothing') screen.freshLine();
    mode = 'nothing';
  };
  const enter = (next: 'text' | 'reasoning') => {
    if (mode === next) return;
    leave();
    screen.status('');
    mode = next;
  };
  const showRunning = () => {
    const newest = [...running.values()].at(-1);
    if (hasDetails && mode === 'nothing')
      screen.status(newest ? style.paint('dim', fitRow(toolLine(newest), screen)) : '');
  };
  const note = (text: string) => {
    leave();
    screen.note(text);
    showRunning();
  };

  return {
    text(text) {
      enter('text');
      const clean = textCleaner.push(text);
      shown += clean;
      screen.write(styler.push(clean));
    },
    reasoning(text) {
      if (!hasDetails) return;
      enter('reasoning');
      const clean = reasoningCleaner.push(text);
      if (clean !== '') screen.write(style.paint('dim', clean));
    },
    tool(given) {
      leave();
      const view = { ...given, input: given.input ?? running.get(given.id)?.input };
      // A map keeps the place of a key that is set again.
      running.delete(view.id);
      if (view.state === 'running') running.set(view.id, view);
      else if (hasDetails)
        screen.note(style.paint(view.state === 'done' ? 'dim' : 'bad', fitRow(toolLine(view), screen)));
      showRunning();
    },
    notice(text) {
      leave();
      const clean = cleanText(text);
      shown += clean;
      const noticeStyler = new MarkdownStyler(style);
      screen.write(noticeStyler.push(clean) + noticeStyler.end());
      screen.freshLine();
    },
    problem: ({ code, message }) => note(style.paint('bad', `⚠ ${cleanLine(message)} (${cleanLine(code)})`)),
    restart() {
      running.clear();
      if (hasDetails) note(style.paint('dim', 'The daemon was restarted; the answer goes on.'));
    },
    end({ stopReason, text }) {
      leave();
      running.clear();
      screen.status('');
      const answer = cleanText(text);
      if (!shown.trimEnd().endsWith(answer.trim())) {
        screen.write(styler.push(answer) + styler.end());
        screen.freshLine();
      }
      const ending = endings[stopReason];
      if (ending !== '') screen.note(style.paint('dim', ending));
    },
  };
}

/** Failures of the model have told of themselves. */
const endings: Record<StopReason, string> = {
  end_turn: '',
  max_turns: 'Stopped after the highest number of steps. Say "go on" to continue.',
  no_progress: 'Stopped: the same step was repeated without progress.',
  cancelled: '⏹ Stopped.',
  budget_exceeded: 'Stopped: the budget is used up.',
  timeout: 'Stopped: the turn took too long.',
  awaiting_permission: 'Waiting for an approval.',
  awaiting_user: 'Waiting for your answer.',
  model_error: '',
};

/** Frames of an answer on their way to the screen. */
import type { AnswerFrame } from '../../client/turn.js';
import type { VisibleMessage } from '../../protocol/control.js';
import type { AnswerView } from '../terminal/answer-view.js';
import { cleanLine, cleanText } from '../terminal/clean-text.js';
import { MarkdownStyler } from '../terminal/markdown-styler.js';
import type { Style } from '../terminal/style.js';
import { toolLine } from '../terminal/tool-line.js';

export function showFrame(frame: AnswerFrame, view: AnswerView): void {
  switch (frame.type) {
    case 'start':
      if (frame.content.attempt > 1) view.restart();
      return;
    case 'text':
      view.text(frame.content);
      return;
    case 'reasoning':
      view.reasoning(frame.content);
      return;
    case 'notice':
      view.notice(frame.content);
      return;
    case 'tool_calls':
      for (const call of frame.content) view.tool(call);
      return;
    case 'error':
      view.problem(frame.content);
      return;
    case 'end':
      view.end(frame.content);
  }
}

/** A stored message; ends with a line break. */
export function messageText(message: VisibleMessage, style: Style): string {
  const { role, text, toolCalls = [] } = message;
  const styler = new MarkdownStyler(style);
  const clean = cleanText(text).trimEnd();
  if (role === 'user') {
    const name = message.senderName === undefined ? '' : `${cleanLine(message.senderName)} `;
    return style.paint('accent', `${name}› ${clean.replaceAll('\n', '\n  ')}`).concat('\n');
  }
  const body = clean === '' ? [] : [styler.push(clean) + styler.end()];
  const calls = toolCalls.map((call) =>
    style.paint('dim', cleanLine(toolLine({ ...call, ...(call.output !== undefined && { result: call.output }) }))),
  );
  return [...body, ...calls].map((line) => `${line}\n`).join('');
}

/** A tool call on one line: `calculator 17*23 → 391`. */
import type { ToolCallState } from '../../protocol/events.js';
import type { ToolCallView } from '../../protocol/frames.js';
import { cleanLine } from './clean-text.js';

/** Longer inputs and results are cut before they are looked at. */
const maxLength = 2000;

export function toolLine({ name, input, state, result }: Omit<ToolCallView, 'id'>): string {
  const call = `${cleanLine(name)} ${inputText(input)}`.trimEnd();
  if (state === 'running') return `⚙ ${call} …`;
  const said = cleanLine((result ?? '').slice(0, maxLength));
  return `⚙ ${call} ${marks[state]}${said === '' ? '' : ` ${said}`}`;
}

const marks: Record<ToolCallState, string> = { done: '→', failed: '✗', interrupted: '⏹' };

/** The value alone where a call has only one; else all of them. */
function inputText(input: unknown): string {
  if (input === null || input === undefined) return '';
  if (typeof input !== 'object') return cleanLine(String(input).slice(0, maxLength));
  const values: unknown[] = Object.values(input);
  if (values.length === 0) return '';
  const [value] = values;
  const text = values.length === 1 && typeof value !== 'object' ? String(value) : JSON.stringify(input);
  return cleanLine(text.slice(0, maxLength));
}

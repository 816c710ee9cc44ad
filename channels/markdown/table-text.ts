/** A table as aligned monospace text; Chinese, Japanese, Korean characters and emoji count as two columns. */
import type { Table } from 'mdast';
import { toPlainText } from './plain.js';

export function tableText(table: Table): string {
  const rows = table.children.map((row) => row.children.map((cell) => toPlainText(cell).replace(/\s+/g, ' ').trim()));
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => displayWidth(row[column] ?? ''))),
  );
  const lines = rows.map((row) =>
    widths
      .map((width, column) => pad(row[column] ?? '', width, table.align?.[column] === 'right'))
      .join(' │ ')
      .trimEnd(),
  );
  if (lines.length > 1) lines.splice(1, 0, widths.map((width) => '─'.repeat(width)).join('─┼─'));
  return lines.join('\n');
}

function pad(text: string, width: number, isRight: boolean): string {
  const space = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return isRight ? space + text : text + space;
}

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    if (/\p{M}|\p{Cf}/u.test(character)) continue;
    width += wide.test(character) ? 2 : 1;
  }
  return width;
}

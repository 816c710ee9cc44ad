/** Rows as columns that line up, whatever the width of their characters. */
import { cleanLine } from './clean-text.js';
import { fitWidth, padWidth, textWidth } from './text-width.js';

export interface Column {
  title: string;
  /** Gets what is left when the terminal is narrow; others keep their width. */
  isFlexible?: boolean;
}

const gap = '  ';
const minFlexibleWidth = 8;

/** Without a width nothing is cut: the reader is a program. */
export function tableText(columns: readonly Column[], rows: readonly string[][], terminalWidth?: number): string {
  const cells = [columns.map((column) => column.title), ...rows.map((row) => row.map(cleanLine))];
  const widths = columns.map((_, index) => Math.max(...cells.map((row) => textWidth(row[index] ?? ''))));
  const flexible = columns.findIndex((column) => column.isFlexible);
  if (terminalWidth !== undefined && flexible !== -1) {
    const others = widths.reduce((sum, width, index) => sum + (index === flexible ? 0 : width + gap.length), 0);
    widths[flexible] = Math.min(widths[flexible]!, Math.max(minFlexibleWidth, terminalWidth - others));
  }
  const lines = cells.map((row) =>
    row
      .map((cell, index) =>
        index === row.length - 1 ? shorten(cell, index) : padWidth(shorten(cell, index), widths[index]!),
      )
      .join(gap)
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;

  function shorten(cell: string, index: number): string {
    return index === flexible && terminalWidth !== undefined ? fitWidth(cell, widths[index]!) : cell;
  }
}

/** A tree as plain text: for platforms' fallbacks, file names and previews. */
import type { Nodes, TableRow } from 'mdast';

export function toPlainText(node: Nodes): string {
  switch (node.type) {
    case 'text':
    case 'inlineCode':
    case 'code':
    case 'html':
      return node.value;
    case 'break':
      return '\n';
    case 'thematicBreak':
      return '———';
    case 'image':
      return node.alt ? `${node.alt} (${node.url})` : node.url;
    case 'link': {
      const text = inline(node.children);
      return text === node.url || text === '' ? node.url : `${text} (${node.url})`;
    }
    case 'list':
      return node.children
        .map((item, index) => {
          const mark = node.ordered ? `${(node.start ?? 1) + index}. ` : '• ';
          return mark + checkMark(item.checked) + indent(toPlainText(item), ' '.repeat(mark.length));
        })
        .join('\n');
    case 'listItem':
      return node.children.map(toPlainText).join('\n');
    case 'blockquote':
      return `> ${indent(node.children.map(toPlainText).join('\n\n'), '> ')}`;
    case 'table':
      return node.children.map(rowText).join('\n');
    case 'root':
      return node.children.map(toPlainText).join('\n\n');
    default:
      return 'children' in node ? inline(node.children) : '';
  }
}

export function checkMark(checked: boolean | null | undefined): string {
  if (checked === true) return '☑ ';
  return checked === false ? '☐ ' : '';
}

function rowText(row: TableRow): string {
  return row.children.map((cell) => inline(cell.children)).join(' | ');
}

function inline(children: readonly Nodes[]): string {
  return children.map(toPlainText).join('');
}

/** Every line but the first. */
function indent(text: string, prefix: string): string {
  return text.replaceAll('\n', `\n${prefix}`);
}

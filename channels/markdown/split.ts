/**
 * Cuts a tree into trees that each fit into one message *as rendered*. Because every part is a tree, no part can end
 * inside a tag, link or code block: a block that is cut is closed and opened again with its language, a table with its head.
 */
import type { BlockContent, Nodes, Parent, Root, RootContent } from 'mdast';

/** Length of the rendered tree in the platform's own unit. It never shrinks when text is added. */
export type Measure = (root: Root) => number;

/** Between two blocks; a part is measured as a whole as well, so this only has to be about right. */
const separatorLength = 2;

/** At least one part; none is longer than `limit` unless a single character is. */
export function splitTree(root: Root, limit: number, measure: Measure): Root[] {
  const size = (node: RootContent) => measure(rootOf([node]));
  const parts: Root[] = [];
  let current: RootContent[] = [];
  let used = 0;
  const flush = () => {
    if (current.length > 0) parts.push(rootOf(current));
    current = [];
    used = 0;
  };
  for (const block of root.children) {
    for (const piece of size(block) <= limit ? [block] : cut(block, limit, size)) {
      const length = size(piece);
      if (current.length > 0) {
        const isFull = used + separatorLength + length > limit || measure(rootOf([...current, piece])) > limit;
        if (isFull) flush();
      }
      used += (current.length > 0 ? separatorLength : 0) + length;
      current.push(piece);
    }
  }
  flush();
  return parts.length > 0 ? parts : [rootOf([])];
}

type Size = (node: RootContent) => number;

/** Pieces of one block that is too long, in order. */
function cut(node: RootContent, limit: number, size: Size): RootContent[] {
  switch (node.type) {
    case 'code':
      return cutLines(node.value, limit, (value) => size({ ...node, value })).map((value) => ({ ...node, value }));
    case 'text':
    case 'inlineCode':
    case 'html':
      return cutText(node.value, limit, (value) => size({ ...node, value })).map((value) => ({ ...node, value }));
    case 'image':
      return [{ type: 'text', value: node.url }].flatMap((text) => cut(text as RootContent, limit, size));
    case 'table': {
      const [head, ...rows] = node.children;
      const build = (some: typeof rows) => ({ ...node, children: head ? [head, ...some] : some });
      const pieces = pack(rows, limit, build, size);
      // A row (or head) that is too long by itself leaves the table.
      return pieces.flatMap((piece) => (size(piece) <= limit ? [piece] : cutRows(piece.children, limit, size)));
    }
    case 'list': {
      let start = node.start ?? 1;
      const pieces = pack(node.children, limit, (children) => ({ ...node, children }), size);
      return pieces.flatMap((piece) => {
        const numbered = node.ordered ? { ...piece, start } : piece;
        start += piece.children.length;
        return size(numbered) <= limit ? [numbered] : cutItem(numbered, limit, size);
      });
    }
    default:
      return 'children' in node && node.children.length > 0 ? cutParent(node, limit, size) : [node];
  }
}

/** Paragraph, quote, bold, link …: the same shell around fewer children. */
function cutParent<Node extends RootContent & Parent>(node: Node, limit: number, size: Size): RootContent[] {
  const wrap = (children: RootContent[]) => ({ ...node, children }) as Node;
  const wrapped: Size = (child) => size(wrap([child]));
  if (wrapped({ type: 'text', value: 'x' }) > limit) return [node];
  const small = node.children.flatMap((child) => (wrapped(child) <= limit ? [child] : cut(child, limit, wrapped)));
  return pack(small, limit, wrap, size);
}

/** A list item with too much in it: its first piece keeps the mark, the rest follows without. */
function cutItem(list: Extract<RootContent, { type: 'list' }>, limit: number, size: Size): RootContent[] {
  return list.children.flatMap((item) => {
    const marked = (child: RootContent): RootContent => ({
      ...list,
      children: [{ ...item, children: [child as BlockContent] }],
    });
    const [first, ...rest] = item.children.flatMap((child) => {
      const within: Size = (piece) => Math.max(size(marked(piece)), size(piece));
      return within(child) <= limit ? [child as RootContent] : cut(child, limit, within);
    });
    return first ? [marked(first), ...rest] : [];
  });
}

function cutRows(rows: Extract<RootContent, { type: 'table' }>['children'], limit: number, size: Size): RootContent[] {
  return rows.flatMap((row) => {
    const children = row.children.flatMap((cell, index) => [
      ...(index > 0 ? [{ type: 'text' as const, value: ' | ' }] : []),
      ...cell.children,
    ]);
    const paragraph: RootContent = { type: 'paragraph', children };
    return size(paragraph) <= limit ? [paragraph] : cut(paragraph, limit, size);
  });
}

/** Puts as many children as fit into each shell. A child that does not fit alone gets a shell of its own. */
function pack<Child extends Nodes, Shell extends RootContent>(
  children: readonly Child[],
  limit: number,
  build: (children: Child[]) => Shell,
  size: Size,
): Shell[] {
  const shells: Shell[] = [];
  for (let from = 0; from < children.length; ) {
    const count = Math.max(
      1,
      largest(children.length - from, (some) => size(build(children.slice(from, from + some))) <= limit),
    );
    shells.push(build(children.slice(from, from + count)));
    from += count;
  }
  return shells;
}

function cutLines(value: string, limit: number, size: (value: string) => number): string[] {
  const lines = value.split('\n').flatMap((line) => (size(line) <= limit ? [line] : cutText(line, limit, size)));
  const pieces: string[] = [];
  for (let from = 0; from < lines.length; ) {
    // A rendered line is at least as long as the line, so more than `limit` of them cannot fit.
    const most = Math.min(lines.length - from, limit);
    const count = Math.max(
      1,
      largest(most, (some) => size(lines.slice(from, from + some).join('\n')) <= limit),
    );
    pieces.push(lines.slice(from, from + count).join('\n'));
    from += count;
  }
  return pieces;
}

function cutText(value: string, limit: number, size: (value: string) => number): string[] {
  const pieces: string[] = [];
  for (let rest = value; rest !== ''; ) {
    const most = largest(Math.min(rest.length, limit), (length) => size(rest.slice(0, length)) <= limit);
    const length = most >= rest.length ? rest.length : goodEnd(rest, most);
    pieces.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return pieces;
}

/** Where a text of at most `most` code units ends best: line, sentence, word, and never inside a character. */
function goodEnd(text: string, most: number): number {
  const head = text.slice(0, most);
  const earliest = most * 0.6;
  for (const end of [/\n(?=[^\n]*$)/, /[。！？；!?.;](?=[^。！？；!?.;]*$)/, /[\s，、,](?=[^\s，、,]*$)/]) {
    const index = head.search(end);
    if (index >= earliest) return index + 1;
  }
  const longest = Math.max(1, most);
  let length = longest;
  while (length > 1 && belongsToPrevious(text, length)) length -= 1;
  // Nothing but one endless character: cut it anyway.
  if (length === 1) length = longest;
  if (isInsidePair(text, length)) length += length === 1 ? 1 : -1;
  return length;
}

/** Low surrogate, combining mark, joiner, variation selector, skin tone, or what a joiner joins. */
function belongsToPrevious(text: string, index: number): boolean {
  return (
    /^(?:[\udc00-\udfff]|\p{M}|[\u200d\ufe0e\ufe0f]|[\u{1f3fb}-\u{1f3ff}])/u.test(text.slice(index, index + 2)) ||
    isInsidePair(text, index) ||
    text[index - 1] === '\u200d'
  );
}

function isInsidePair(text: string, length: number): boolean {
  return /[\ud800-\udbff]$/.test(text.slice(0, length)) && /^[\udc00-\udfff]/.test(text.slice(length));
}

/** The largest count of 0…most for which `fits` holds; `fits` holds up to some count and not beyond. */
function largest(most: number, fits: (count: number) => boolean): number {
  let low = 0;
  let high = most;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function rootOf(children: RootContent[]): Root {
  return { type: 'root', children };
}

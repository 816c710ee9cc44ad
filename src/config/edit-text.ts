/** Changes values in the text of config.json and leaves everything else, comments and layout too, as it stands. */
import { applyEdits, createScanner, type Edit, findNodeAtLocation, modify, type Node, parseTree } from 'jsonc-parser';
import type { ConfigPath } from './config-path.js';
import { withoutMark } from './parse-file.js';

/** `value` undefined: the key is removed. */
export interface Change {
  path: ConfigPath;
  value: unknown;
}

/** `text` must be free of syntax errors. An empty one becomes an object. */
export function editText(text: string, changes: readonly Change[]): string {
  let body = withoutMark(text);
  const mark = text.slice(0, text.length - body.length);
  if (!parseTree(body)) body = `${body.trimEnd()}${body.trim() ? '\n' : ''}{}\n`;
  for (const { path, value } of changes) {
    const edits = value === undefined ? removal(body, path) : replacement(body, path, value);
    body = applyEdits(body, edits);
  }
  return mark + body;
}

function replacement(text: string, path: ConfigPath, value: unknown): Edit[] {
  const layout = layoutOf(text);
  const [parent, missing] = deepestExisting(parseTree(text)!, path);
  const [key, ...below] = missing;
  const formattingOptions = { insertSpaces: layout.unit !== '\t', tabSize: layout.unit.length, eol: layout.eol };
  if (key === undefined || (parent.type === 'array' && typeof key === 'number')) {
    return modify(text, [...path], nested(below, value), { formattingOptions });
  }
  if (parent.type === 'object') return insertion(text, parent, String(key), nested(below, value), layout);
  // Something else stands where an object is wanted.
  return modify(text, path.slice(0, path.length - missing.length), nested(missing, value), { formattingOptions });
}

function nested(path: ConfigPath, value: unknown): unknown {
  return path.reduceRight((inner, key) => (typeof key === 'number' ? [inner] : { [key]: inner }), value);
}

/** The deepest node that exists on the way to `path`, and what is missing below it. */
function deepestExisting(root: Node, path: ConfigPath): [Node, ConfigPath] {
  for (let length = path.length; length > 0; length--) {
    const node = findNodeAtLocation(root, path.slice(0, length));
    if (node) return [node, path.slice(length)];
  }
  return [root, path];
}

/** Before the closing brace, so that a comment behind the last value stays with that value. */
function insertion(text: string, parent: Node, key: string, value: unknown, layout: Layout): Edit[] {
  const last = parent.children?.at(-1);
  const end = endOf(parent) - 1;
  const place = text.slice(0, end).trimEnd().length;
  const isOneLine = last !== undefined && !text.slice(parent.offset, end).includes('\n');
  const outer = indentationAt(text, parent.offset);
  const inner = last ? indentationAt(text, last.offset) : outer + layout.unit;
  const json = JSON.stringify(value, null, isOneLine ? undefined : layout.unit).replaceAll('\n', layout.eol + inner);
  const property = `${JSON.stringify(key)}: ${json}`;
  const comma = last ? [{ offset: endOf(last), length: 0, content: ',' }] : [];
  if (isOneLine) return [...comma, { offset: place, length: 0, content: ` ${property}` }];
  const hasOwnLine = text.slice(place, end).includes('\n');
  const content = layout.eol + inner + property + (hasOwnLine ? '' : layout.eol + outer);
  return [...comma, { offset: place, length: hasOwnLine ? 0 : end - place, content }];
}

/** Takes the value, its comma, and its line when nothing else is on it; comments stay. */
function removal(text: string, path: ConfigPath): Edit[] {
  const value = findNodeAtLocation(parseTree(text)!, [...path]);
  const node = value?.parent?.type === 'property' ? value.parent : value;
  const siblings = node?.parent?.children;
  if (!node || !siblings) return [];
  const index = siblings.indexOf(node);
  const before = siblings[index - 1];
  const hasNext = index < siblings.length - 1;
  const commaAfter = hasNext ? commaFrom(text, endOf(node)) : undefined;
  const commaBefore = !hasNext && before ? commaFrom(text, endOf(before)) : undefined;
  const edits = [wholeLine(text, node.offset, commaAfter === endOf(node) ? commaAfter + 1 : endOf(node))];
  for (const comma of [commaBefore, commaAfter === endOf(node) ? undefined : commaAfter]) {
    if (comma !== undefined) edits.push({ offset: comma, length: 1, content: '' });
  }
  return edits;
}

function wholeLine(text: string, start: number, end: number): Edit {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const rest = /^[ \t]*\r?\n/.exec(text.slice(end));
  if (rest && text.slice(lineStart, start).trim() === '' && lineStart > 0) {
    return { offset: lineStart, length: end + rest[0].length - lineStart, content: '' };
  }
  return { offset: start, length: end - start, content: '' };
}

/** The first comma at or after `offset` that is not inside a comment. */
function commaFrom(text: string, offset: number): number {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  scanner.scan();
  return scanner.getTokenOffset();
}

interface Layout {
  unit: string;
  eol: string;
}

function layoutOf(text: string): Layout {
  const indentation = /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
  return { unit: indentation.startsWith('\t') ? '\t' : indentation, eol: text.includes('\r\n') ? '\r\n' : '\n' };
}

function indentationAt(text: string, offset: number): string {
  return /[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))![0];
}

function endOf(node: Node): number {
  return node.offset + node.length;
}

/** The text of config.json as data, with the place of everything in it. JSON with comments; nothing else is tolerated. */
import {
  createScanner,
  findNodeAtLocation,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { ConfigError } from './config-error.js';
import type { ConfigPath } from './config-path.js';

export interface ParsedFile {
  data: Record<string, unknown>;
  /** Where `path` begins; undefined when the file does not hold it. */
  locate(path: ConfigPath): { line: number; column: number } | undefined;
}

type Fail = (offset: number, message: string) => ConfigError;

/** Throws `ConfigError` (`config_syntax`) with line and column. `hint` ends the message: what to do about it. */
export function parseFile(rawText: string, file: string, hint: string): ParsedFile {
  const text = withoutMark(rawText);
  const fail: Fail = (offset, message) => {
    const place = placeAt(text, offset);
    return new ConfigError(
      'config_syntax',
      `${file}, line ${place.line}, column ${place.column}: ${message}. ${hint}`.trim(),
      { problems: [{ path: '', message, ...place }] },
    );
  };
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: false, allowEmptyContent: true });
  if (errors[0]) throw fail(...explain(text, errors[0]));
  if (tree && tree.type !== 'object') throw fail(tree.offset, 'expected an object in braces');
  return {
    data: tree ? (toData(tree, fail) as Record<string, unknown>) : {},
    locate(path) {
      const node = tree && findNodeAtLocation(tree, [...path]);
      return node && placeAt(text, node.parent?.type === 'property' ? node.parent.offset : node.offset);
    },
  };
}

/** Without the byte order mark that some editors write. */
export function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function toData(node: Node, fail: Fail): unknown {
  if (node.type === 'array') return (node.children ?? []).map((child) => toData(child, fail));
  if (node.type !== 'object') return node.value;
  const data: Record<string, unknown> = {};
  for (const property of node.children ?? []) {
    const [name, value] = property.children ?? [];
    const key = name?.value as string;
    if (key === '__proto__') throw fail(property.offset, 'the name "__proto__" is not allowed');
    if (Object.hasOwn(data, key)) throw fail(property.offset, `"${key}" stands here a second time`);
    data[key] = value && toData(value, fail);
  }
  return data;
}

function placeAt(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: before.length, column: before.at(-1)!.length + 1 };
}

function explain(text: string, error: ParseError): [offset: number, message: string] {
  const before = tokenBefore(text, error.offset);
  if (text[before] === ',' && /[}\]]/.test(text.charAt(error.offset))) {
    return [before, 'a comma too many before the closing bracket'];
  }
  return [error.offset, messages[printParseErrorCode(error.error)] ?? 'this is not JSON'];
}

/** Where the last token ahead of `offset` begins, comments and blanks aside. */
function tokenBefore(text: string, offset: number): number {
  const scanner = createScanner(text, true);
  let before = -1;
  for (;;) {
    scanner.scan();
    if (scanner.getTokenOffset() >= offset) return before;
    before = scanner.getTokenOffset();
  }
}

const messages: Record<string, string> = {
  InvalidSymbol: 'unknown word (texts stand in double quotes)',
  InvalidNumberFormat: 'this is not a number',
  PropertyNameExpected: 'a name in double quotes is expected',
  ValueExpected: 'a value is expected',
  ColonExpected: 'a colon is expected',
  CommaExpected: 'a comma is missing before this',
  CloseBraceExpected: 'a closing brace is missing',
  CloseBracketExpected: 'a closing bracket is missing',
  EndOfFileExpected: 'nothing may follow the closing brace',
  UnexpectedEndOfComment: 'the comment does not end',
  UnexpectedEndOfString: 'the text does not end (a double quote is missing)',
  InvalidEscapeCharacter: 'unknown escape (write \\\\ for a backslash)',
  InvalidUnicode: 'unknown \\u escape',
  InvalidCharacter: 'this character is not allowed here',
};

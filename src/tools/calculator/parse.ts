/** From the text of an expression to its syntax tree. Nothing is computed here, nothing is ever evaluated as code. */
import { ToolError } from '../tool.js';

export type BinaryOperator = '+' | '-' | '*' | '/' | '%' | '^';

export type Expression =
  /** Decimal digits, perhaps with a point and an exponent. */
  | { kind: 'number'; text: string }
  | { kind: 'name'; name: string }
  | { kind: 'call'; name: string; arguments: Expression[] }
  | { kind: 'negative'; of: Expression }
  | { kind: 'percent' | 'factorial' | 'degree'; of: Expression }
  | { kind: 'binary'; operator: BinaryOperator; left: Expression; right: Expression };

interface Token {
  kind: 'number' | 'name' | 'sign' | 'end';
  text: string;
  /** White space stands before it. */
  isSpaced: boolean;
}

const maxLength = 500;
const maxDepth = 60;

/** Throws `ToolError` that says what is wrong and where. */
export function parseExpression(text: string): Expression {
  if (text.length > maxLength) throw new ToolError(`The expression is longer than ${maxLength} characters; split it.`);
  return new Parser(tokenize(plainSpelling(text))).parse();
}

const otherSpellings: Record<string, string> = {
  '×': '*',
  '·': '*',
  '⋅': '*',
  '∙': '*',
  '✕': '*',
  '÷': '/',
  '∕': '/',
  '⁄': '/',
  '−': '-',
  '–': '-',
  '—': '-',
  π: ' pi ',
  '（': '(',
  '）': ')',
};
const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹⁻';

/** Full-width forms, typographic operators and superscripts in plain ASCII. */
function plainSpelling(text: string): string {
  return text
    .replace(/[\uFF01-\uFF5E]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(
      /[⁰¹²³⁴-⁹⁻]+/g,
      (raised) => `^(${[...raised].map((digit) => '0123456789-'[superscripts.indexOf(digit)]).join('')})`,
    )
    .replace(/[^ -~]/g, (character) => otherSpellings[character] ?? character)
    .replaceAll('**', '^');
}

function tokenize(text: string): Token[] {
  const pattern = /(\s*)(?:((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([A-Za-z][A-Za-z0-9]*)|([-+*/%^(),!√°]))/y;
  const tokens: Token[] = [];
  const end = text.trimEnd().length;
  while (pattern.lastIndex < end) {
    const start = pattern.lastIndex;
    const match = pattern.exec(text);
    if (!match) {
      const unknown = [...text.slice(start).trimStart()][0];
      throw new ToolError(
        `"${unknown}" is not understood in an expression. Use numbers, + - * / % ^ ( ) and functions.`,
      );
    }
    const [, space, number, name, sign] = match;
    const kind = number !== undefined ? 'number' : name !== undefined ? 'name' : 'sign';
    tokens.push({ kind, text: number ?? name?.toLowerCase() ?? sign ?? '', isSpaced: space !== '' });
  }
  tokens.push({ kind: 'end', text: 'the end', isSpaced: true });
  return tokens;
}

/** Recursive descent; from loose to tight: sum, product, sign, power (right to left), postfix, primary. */
class Parser {
  readonly #tokens: Token[];
  #position = 0;
  #depth = 0;

  constructor(tokens: Token[]) {
    this.#tokens = tokens;
  }

  parse(): Expression {
    const expression = this.#sum();
    const rest = this.#peek();
    if (rest.text === ',') throw new ToolError('Write numbers without thousands separators: 1000, not 1,000.');
    if (rest.kind !== 'end') {
      throw new ToolError(`"${rest.text}" was not expected there. Write every operator: 2*(3+4), not 2(3+4).`);
    }
    return expression;
  }

  #sum(): Expression {
    this.#depth += 1;
    if (this.#depth > maxDepth)
      throw new ToolError(`More than ${maxDepth} levels of parentheses; split the expression.`);
    let left = this.#product();
    for (let operator = this.#take('+', '-'); operator; operator = this.#take('+', '-')) {
      left = { kind: 'binary', operator: operator as BinaryOperator, left, right: this.#product() };
    }
    this.#depth -= 1;
    return left;
  }

  #product(): Expression {
    let left = this.#signed();
    for (let operator = this.#take('*', '/', '%'); operator; operator = this.#take('*', '/', '%')) {
      left = { kind: 'binary', operator: operator as BinaryOperator, left, right: this.#signed() };
    }
    return left;
  }

  #signed(): Expression {
    let isNegative = false;
    for (let sign = this.#take('+', '-'); sign; sign = this.#take('+', '-')) isNegative = isNegative !== (sign === '-');
    const operand = this.#power();
    return isNegative ? { kind: 'negative', of: operand } : operand;
  }

  #power(): Expression {
    const left = this.#postfix();
    if (!this.#take('^')) return left;
    this.#depth += 1;
    if (this.#depth > maxDepth) throw new ToolError(`More than ${maxDepth} powers in a row; split the expression.`);
    const right = this.#signed();
    this.#depth -= 1;
    return { kind: 'binary', operator: '^', left, right };
  }

  #postfix(): Expression {
    let operand = this.#primary();
    for (;;) {
      if (this.#take('!')) operand = { kind: 'factorial', of: operand };
      else if (this.#take('°')) operand = { kind: 'degree', of: operand };
      else if (this.#isPercent()) {
        this.#position += 1;
        operand = { kind: 'percent', of: operand };
      } else return operand;
    }
  }

  /** `%` is a remainder when an operand follows, else per cent. */
  #isPercent(): boolean {
    const sign = this.#peek();
    if (sign.text !== '%') return false;
    const next = this.#tokens[this.#position + 1] as Token;
    if (next.kind === 'number' || next.kind === 'name' || next.text === '(' || next.text === '√') return false;
    if (sign.isSpaced && (next.text === '-' || next.text === '+')) {
      throw new ToolError(`"% ${next.text}" can mean two things. Write 10% ${next.text} 3 or mod(10, ${next.text}3).`);
    }
    return true;
  }

  #primary(): Expression {
    const token = this.#peek();
    this.#position += 1;
    if (token.kind === 'number') return { kind: 'number', text: token.text };
    if (token.kind === 'name') {
      if (!this.#take('(')) return { kind: 'name', name: token.text };
      return { kind: 'call', name: token.text, arguments: this.#arguments() };
    }
    if (token.text === '√') return { kind: 'call', name: 'sqrt', arguments: [this.#primary()] };
    if (token.text === '(') {
      const inner = this.#sum();
      this.#expectClosing();
      return inner;
    }
    throw new ToolError(
      `A number was expected, but there is ${token.kind === 'end' ? 'nothing more' : `"${token.text}"`}.`,
    );
  }

  #arguments(): Expression[] {
    const found: Expression[] = [];
    do {
      const { kind, text, isSpaced } = this.#peek();
      if (found.length > 0 && kind === 'number' && !isSpaced && /^0\d/.test(text)) {
        throw new ToolError(`",${text}" looks like a thousands separator. Write 1000, not 1,000.`);
      }
      found.push(this.#sum());
    } while (this.#take(','));
    this.#expectClosing();
    return found;
  }

  #expectClosing(): void {
    if (this.#take(')')) return;
    const { kind, text } = this.#peek();
    throw new ToolError(`A ")" is missing${kind === 'end' ? ' at the end' : ` before "${text}"`}.`);
  }

  #peek(): Token {
    return this.#tokens[this.#position] as Token;
  }

  /** Goes past the next token when it is one of these signs. */
  #take(...signs: string[]): string | undefined {
    const { kind, text } = this.#peek();
    if (kind !== 'sign' || !signs.includes(text)) return undefined;
    this.#position += 1;
    return text;
  }
}

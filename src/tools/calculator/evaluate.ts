/** Computes a syntax tree: what the names, functions and signs of the calculator mean. */
import { ToolError } from '../tool.js';
import type { Arithmetic, Value } from './arithmetic.js';
import type { Expression } from './parse.js';

type Operation = (arithmetic: Arithmetic, values: Value[]) => Value;

/** Name → how many arguments it takes at least and at most, and what it does with them. */
const functions: Record<string, [least: number, most: number, Operation]> = {
  sqrt: [1, 1, (arithmetic, [a]) => arithmetic.squareRoot(a!)],
  abs: [1, 1, (arithmetic, [a]) => arithmetic.absolute(a!)],
  min: [1, 100, (arithmetic, values) => values.reduce((a, b) => (arithmetic.compare(a, b) <= 0 ? a : b))],
  max: [1, 100, (arithmetic, values) => values.reduce((a, b) => (arithmetic.compare(a, b) >= 0 ? a : b))],
  round: [1, 2, (arithmetic, [a, places]) => arithmetic.round(a!, places ?? arithmetic.integer(0n))],
  floor: [1, 1, (arithmetic, [a]) => arithmetic.floor(a!)],
  ceil: [1, 1, (arithmetic, [a]) => arithmetic.ceiling(a!)],
  log: [1, 2, (arithmetic, [a, base]) => arithmetic.logarithm(a!, base ?? arithmetic.integer(10n))],
  ln: [1, 1, (arithmetic, [a]) => arithmetic.naturalLogarithm(a!)],
  exp: [1, 1, (arithmetic, [a]) => arithmetic.exponential(a!)],
  sin: [1, 1, (arithmetic, [a]) => arithmetic.trigonometry('sin', a!)],
  cos: [1, 1, (arithmetic, [a]) => arithmetic.trigonometry('cos', a!)],
  tan: [1, 1, (arithmetic, [a]) => arithmetic.trigonometry('tan', a!)],
  factorial: [1, 1, (arithmetic, [a]) => arithmetic.factorial(a!)],
  mod: [2, 2, (arithmetic, [a, b]) => arithmetic.modulo(a!, b!)],
};

export const functionNames = Object.keys(functions);

/** Throws `ToolError` for what has no value. */
export function evaluate(expression: Expression, arithmetic: Arithmetic): Value {
  const compute = (part: Expression) => evaluate(part, arithmetic);
  switch (expression.kind) {
    case 'number':
      return arithmetic.parse(expression.text);
    case 'name':
      if (expression.name === 'pi') return arithmetic.pi();
      if (expression.name === 'e') return arithmetic.euler();
      throw unknownName(expression.name);
    case 'call': {
      if (!Object.hasOwn(functions, expression.name)) throw unknownName(expression.name);
      const [least, most, operation] = functions[expression.name]!;
      const count = expression.arguments.length;
      if (count < least || count > most) {
        const expected = least === most ? `${least}` : `${least} to ${most}`;
        throw new ToolError(`${expression.name} takes ${expected} values, not ${count}.`);
      }
      return operation(arithmetic, expression.arguments.map(compute));
    }
    case 'negative':
      return arithmetic.negate(compute(expression.of));
    case 'percent':
      return arithmetic.divide(compute(expression.of), arithmetic.integer(100n));
    case 'factorial':
      return arithmetic.factorial(compute(expression.of));
    case 'degree':
      return arithmetic.divide(arithmetic.multiply(compute(expression.of), arithmetic.pi()), arithmetic.integer(180n));
    case 'binary':
      return binary(expression, compute, arithmetic);
  }
}

function binary(
  { operator, left, right }: Extract<Expression, { kind: 'binary' }>,
  compute: (part: Expression) => Value,
  arithmetic: Arithmetic,
): Value {
  const [a, b] = [compute(left), compute(right)];
  switch (operator) {
    case '+':
    case '-': {
      // As on a pocket calculator: 200 + 10% is 220.
      const isShare = right.kind === 'percent' && left.kind !== 'percent';
      const change = isShare ? arithmetic.multiply(a, b) : b;
      return operator === '+' ? arithmetic.add(a, change) : arithmetic.subtract(a, change);
    }
    case '*':
      return arithmetic.multiply(a, b);
    case '/':
      return arithmetic.divide(a, b);
    case '%':
      return arithmetic.modulo(a, b);
    case '^':
      return arithmetic.power(a, b);
  }
}

function unknownName(name: string): ToolError {
  return new ToolError(
    `"${name.slice(0, 40)}" is not known. Constants: pi, e. Functions: ${functionNames.join(', ')}.`,
  );
}

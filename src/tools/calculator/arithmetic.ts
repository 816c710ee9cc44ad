/** Numbers of the calculator: exact as long as they can be, else decimals of 50 digits. */
import type { Decimal } from 'decimal.js';
import { ToolError } from '../tool.js';
import type { Fraction } from './fraction.js';
import * as exact from './fraction.js';

export type Value = Fraction | Decimal;
export type DecimalClass = typeof Decimal;

const precision = 50;
/** Below this a sine that should be 0 differs from it only by rounding. */
const noise = '1e-45';
const maxFactorial = 3000;
const maxTrigonometryArgument = '1e30';

export class Arithmetic {
  readonly #decimal: DecimalClass;

  constructor(decimal: DecimalClass) {
    this.#decimal = decimal.clone({ precision, toExpPos: 40, toExpNeg: -10, defaults: true });
  }

  /** `text`: decimal digits, perhaps with a point and an exponent. */
  parse(text: string): Value {
    const [mantissa = '', power = '0'] = text.toLowerCase().split('e');
    const [whole = '', places = ''] = mantissa.split('.');
    const exponent = Number(power) - places.length;
    if (Math.abs(exponent) > 1000) return this.#checked(new this.#decimal(text));
    const digits = BigInt(`${whole}${places}`);
    const scale = 10n ** BigInt(Math.abs(exponent));
    return (
      (exponent < 0 ? exact.fraction(digits, scale) : exact.fraction(digits * scale)) ??
      this.#checked(new this.#decimal(text))
    );
  }

  integer(value: bigint): Value {
    return exact.fraction(value) ?? this.#checked(new this.#decimal(value.toString()));
  }

  pi(): Value {
    return this.#decimal.acos(-1);
  }

  euler(): Value {
    return this.#decimal.exp(1);
  }

  add(a: Value, b: Value): Value {
    return (isExact(a) && isExact(b) && exact.add(a, b)) || this.#checked(this.#of(a).plus(this.#of(b)));
  }

  subtract(a: Value, b: Value): Value {
    return this.add(a, this.negate(b));
  }

  negate(a: Value): Value {
    return isExact(a) ? exact.negate(a) : a.negated();
  }

  multiply(a: Value, b: Value): Value {
    return (isExact(a) && isExact(b) && exact.multiply(a, b)) || this.#checked(this.#of(a).times(this.#of(b)));
  }

  divide(a: Value, b: Value): Value {
    if (this.#sign(b) === 0) throw new ToolError('Division by zero.');
    return (isExact(a) && isExact(b) && exact.divide(a, b)) || this.#checked(this.#of(a).div(this.#of(b)));
  }

  /** With the sign of the divisor: -7 modulo 3 is 2. */
  modulo(a: Value, b: Value): Value {
    return this.subtract(a, this.multiply(b, this.floor(this.divide(a, b))));
  }

  power(base: Value, exponent: Value): Value {
    if (this.#sign(base) === 0 && this.#sign(exponent) < 0)
      throw new ToolError('Division by zero: 0 to a negative power.');
    if (isExact(exponent)) {
      if (isExact(base) && exponent.denominator === 1n) {
        const result = exact.power(base, exponent.numerator);
        if (result) return result;
      }
      if (exponent.denominator === 2n && exponent.numerator === 1n) return this.squareRoot(base);
    }
    if (this.#sign(base) < 0 && !this.#of(exponent).isInteger()) {
      throw new ToolError('A negative number to a fractional power is not a real number.');
    }
    return this.#checked(this.#of(base).pow(this.#of(exponent)));
  }

  squareRoot(a: Value): Value {
    if (this.#sign(a) < 0) throw new ToolError('The square root of a negative number is not a real number.');
    return (isExact(a) && exact.exactSquareRoot(a)) || this.#of(a).sqrt();
  }

  absolute(a: Value): Value {
    return this.#sign(a) < 0 ? this.negate(a) : a;
  }

  /** Below 0, 0 or above 0. */
  compare(a: Value, b: Value): number {
    return isExact(a) && isExact(b) ? exact.compare(a, b) : this.#of(a).cmp(this.#of(b));
  }

  floor(a: Value): Value {
    if (isExact(a)) return this.integer(exact.floor(a));
    const whole = this.#settled(a).floor();
    return whole.e < precision ? this.integer(BigInt(whole.toFixed())) : whole;
  }

  ceiling(a: Value): Value {
    return this.negate(this.floor(this.negate(a)));
  }

  /** Half away from zero, to `places` decimal places. */
  round(a: Value, places: Value): Value {
    const count = isExact(places) && places.denominator === 1n ? Number(places.numerator) : Number.NaN;
    if (!(Math.abs(count) <= 1000)) throw new ToolError('round(x, places) takes a whole number of places up to 1000.');
    const scale = exact.power({ numerator: 10n, denominator: 1n }, BigInt(count)) as Fraction;
    const half: Fraction = { numerator: 1n, denominator: 2n };
    const rounded = this.floor(this.add(this.multiply(this.absolute(a), scale), half));
    const result = this.divide(rounded, scale);
    return this.#sign(a) < 0 ? this.negate(result) : result;
  }

  factorial(a: Value): Value {
    const count = isExact(a) && a.denominator === 1n ? a.numerator : -1n;
    if (count < 0n || count > BigInt(maxFactorial)) {
      throw new ToolError(`The factorial takes a whole number from 0 to ${maxFactorial}.`);
    }
    return this.integer(exact.factorial(Number(count)));
  }

  naturalLogarithm(a: Value): Value {
    this.#requirePositive(a);
    return isOne(a) ? this.integer(0n) : this.#checked(this.#of(a).ln());
  }

  logarithm(a: Value, base: Value): Value {
    this.#requirePositive(a);
    this.#requirePositive(base);
    if (isOne(base)) throw new ToolError('There is no logarithm to the base 1.');
    const result = this.#checked(this.#of(a).log(this.#of(base)));
    const whole = result.round();
    if (isExact(a) && isExact(base) && whole.abs().lt(100_000)) {
      const power = exact.power(base, BigInt(whole.toFixed()));
      if (power && exact.compare(power, a) === 0) return this.integer(BigInt(whole.toFixed()));
    }
    return result;
  }

  exponential(a: Value): Value {
    return this.#sign(a) === 0 ? this.integer(1n) : this.#checked(this.#of(a).exp());
  }

  trigonometry(name: 'sin' | 'cos' | 'tan', a: Value): Value {
    if (this.#sign(a) === 0) return this.integer(name === 'cos' ? 1n : 0n);
    const angle = this.#of(a);
    if (angle.abs().gt(maxTrigonometryArgument))
      throw new ToolError(`${name} takes angles up to ${maxTrigonometryArgument}.`);
    if (name !== 'tan') return this.#withoutNoise(name === 'sin' ? angle.sin() : angle.cos());
    const cosine = this.#withoutNoise(angle.cos());
    if (cosine.isZero()) throw new ToolError('The tangent has no value there.');
    return this.#withoutNoise(angle.sin()).div(cosine);
  }

  /** Exact where that is short; else rounded to 30 digits, which it says. */
  format(a: Value): string {
    if (!isExact(a)) return `${a.toSignificantDigits(30).toString()} (rounded)`;
    const digits = exact.toDecimalText(a, 400);
    if (digits !== undefined) return digits;
    const ratio = `${a.numerator}/${a.denominator}`;
    const rounded = this.#of(a).toSignificantDigits(30).toString();
    return `${rounded} (rounded${ratio.length <= 60 ? `; exactly ${ratio}` : ''})`;
  }

  #of(a: Value): Decimal {
    if (!isExact(a)) return a;
    const numerator = new this.#decimal(a.numerator.toString());
    return a.denominator === 1n ? numerator.toSignificantDigits(precision) : numerator.div(a.denominator.toString());
  }

  #sign(a: Value): number {
    if (isExact(a)) return a.numerator < 0n ? -1 : a.numerator > 0n ? 1 : 0;
    return a.isZero() ? 0 : a.isNegative() ? -1 : 1;
  }

  #requirePositive(a: Value): void {
    if (this.#sign(a) <= 0) throw new ToolError('Logarithms take numbers above 0.');
  }

  #checked(a: Decimal): Decimal {
    if (!a.isFinite()) throw new ToolError('The result is too large to write down.');
    return a;
  }

  /** Without the last digits, where rounding has left its marks: sqrt(2)^2 must not become 1 when cut. */
  #settled(a: Decimal): Decimal {
    return a.toSignificantDigits(precision - 8);
  }

  #withoutNoise(a: Decimal): Decimal {
    return a.abs().lt(noise) ? new this.#decimal(0) : a;
  }
}

function isExact(a: Value): a is Fraction {
  return 'denominator' in a;
}

function isOne(a: Value): boolean {
  return isExact(a) && a.numerator === 1n && a.denominator === 1n;
}

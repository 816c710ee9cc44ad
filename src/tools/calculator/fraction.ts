/** Exact numbers: fractions of big integers, with a bound on their size so that no step takes long. */

/** In lowest terms, `denominator` above 0. */
export interface Fraction {
  numerator: bigint;
  denominator: bigint;
}

/** About 10,000 decimal digits. */
const maxIntegerBits = 33_300;
/** About 1,200 digits. Reducing a fraction costs the square of its length. */
const maxFractionBits = 4096;

/** Undefined when the exact value is too long to keep. `denominator` is not 0. */
export function fraction(numerator: bigint, denominator = 1n): Fraction | undefined {
  if (denominator < 0n) return fraction(-numerator, -denominator);
  if (numerator % denominator === 0n) {
    const whole = numerator / denominator;
    return bitLength(whole) > maxIntegerBits ? undefined : { numerator: whole, denominator: 1n };
  }
  if (bitLength(denominator) > maxFractionBits) return undefined;
  const divisor = greatestCommonDivisor(numerator < 0n ? -numerator : numerator, denominator);
  const reduced = { numerator: numerator / divisor, denominator: denominator / divisor };
  return bitLength(reduced.numerator) > maxFractionBits ? undefined : reduced;
}

export const add = (a: Fraction, b: Fraction) =>
  a.denominator === b.denominator
    ? fraction(a.numerator + b.numerator, a.denominator)
    : fraction(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator);

export const multiply = (a: Fraction, b: Fraction) =>
  fraction(a.numerator * b.numerator, a.denominator * b.denominator);

/** `b` is not 0. */
export const divide = (a: Fraction, b: Fraction) => fraction(a.numerator * b.denominator, a.denominator * b.numerator);

export const negate = (a: Fraction): Fraction => ({ numerator: -a.numerator, denominator: a.denominator });

/** Below 0, 0 or above 0 as `a` is less than, equal to or more than `b`. */
export function compare(a: Fraction, b: Fraction): number {
  const difference = a.numerator * b.denominator - b.numerator * a.denominator;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The greatest integer that is not above `a`. */
export function floor({ numerator, denominator }: Fraction): bigint {
  const quotient = numerator / denominator;
  return numerator < 0n && numerator % denominator !== 0n ? quotient - 1n : quotient;
}

/** Undefined when the result is too long. `base` is not 0 where the exponent is below 0. */
export function power(base: Fraction, exponent: bigint): Fraction | undefined {
  const { numerator, denominator } = exponent < 0n ? invert(base) : base;
  const times = exponent < 0n ? -exponent : exponent;
  if (denominator === 1n && numerator >= -1n && numerator <= 1n) {
    // These stay short whatever the exponent is.
    return { numerator: numerator ** (times === 0n ? 0n : times % 2n === 0n ? 2n : 1n), denominator: 1n };
  }
  const limit = BigInt(denominator === 1n ? maxIntegerBits : maxFractionBits);
  const length = BigInt(Math.max(bitLength(numerator), bitLength(denominator)) - 1);
  if (length * times > limit) return undefined;
  // Powers of numbers without a common divisor have none either.
  return { numerator: numerator ** times, denominator: denominator ** times };
}

/** The exact square root, or undefined when it is irrational. `value` is not below 0. */
export function exactSquareRoot({ numerator, denominator }: Fraction): Fraction | undefined {
  const top = integerSquareRoot(numerator);
  const bottom = integerSquareRoot(denominator);
  if (top * top !== numerator || bottom * bottom !== denominator) return undefined;
  return { numerator: top, denominator: bottom };
}

/** The decimal digits of the exact value, or undefined when they do not end within `maxPlaces` places. */
export function toDecimalText({ numerator, denominator }: Fraction, maxPlaces: number): string | undefined {
  if (denominator === 1n) return numerator.toString();
  let places = 0;
  let scale = 1n;
  while (scale % denominator !== 0n) {
    if (places === maxPlaces) return undefined;
    places += 1;
    scale *= 10n;
  }
  const digits = ((numerator < 0n ? -numerator : numerator) * (scale / denominator))
    .toString()
    .padStart(places + 1, '0');
  return `${numerator < 0n ? '-' : ''}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** The product of the integers from 1 to `count`, multiplied in halves to keep the factors of equal length. */
export function factorial(count: number): bigint {
  const product = (from: number, to: number): bigint => {
    if (from >= to) return BigInt(from);
    const middle = Math.floor((from + to) / 2);
    return product(from, middle) * product(middle + 1, to);
  };
  return count === 0 ? 1n : product(1, count);
}

function invert({ numerator, denominator }: Fraction): Fraction {
  return numerator < 0n
    ? { numerator: -denominator, denominator: -numerator }
    : { numerator: denominator, denominator: numerator };
}

function bitLength(value: bigint): number {
  const hex = (value < 0n ? -value : value).toString(16);
  return hex.length * 4 - Math.clz32(Number.parseInt(hex[0] as string, 16)) + 28;
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  let [greater, lesser] = [a, b];
  while (lesser !== 0n) [greater, lesser] = [lesser, greater % lesser];
  return greater;
}

function integerSquareRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let guess = 1n << BigInt(Math.ceil(bitLength(value) / 2));
  for (;;) {
    const next = (guess + value / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}

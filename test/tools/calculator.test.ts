import fc from 'fast-check';
import { expect, test } from 'vitest';
import { calculatorTool } from '../../src/tools/calculator/calculator.js';
import { ToolError } from '../../src/tools/tool.js';
import { context } from './tool-context.js';

const calculator = calculatorTool();
const compute = (expression: string) => calculator.run({ expression }, context);

test.each([
  ['17*23', '391'],
  ['0.1 + 0.2', '0.3'],
  ['1/3*3', '1'],
  ['2^100', '1267650600228229401496703205376'],
  ['99999999999999999999 + 1', '100000000000000000000'],
  ['2^-2', '0.25'],
  ['-2^2', '-4'],
  ['(-2)^2', '4'],
  ['2^3^2', '512'],
  ['2**10', '1024'],
  ['2*-3', '-6'],
  ['--5', '5'],
  ['1.5e3', '1500'],
  ['1e-7', '0.0000001'],
  ['.5 + 5.', '5.5'],
  ['0^0', '1'],
  ['(-1)^99999999999', '-1'],
])('%s is exactly %s', async (expression, expected) => {
  expect(await compute(expression)).toBe(expected);
});

test.each([
  ['10%', '0.1'],
  ['200 * 15%', '30'],
  ['200 + 10%', '220'],
  ['200 - 10%', '180'],
  ['50% + 50%', '1'],
  ['10 % 3', '1'],
  ['-7 % 3', '2'],
  ['mod(-7, -3)', '-1'],
  ['5.5 % 2', '1.5'],
])('per cent and remainder: %s is %s', async (expression, expected) => {
  expect(await compute(expression)).toBe(expected);
});

test.each([
  ['sqrt(16) + √9', '7'],
  ['sqrt(1/4)', '0.5'],
  ['abs(-5) + min(1, 2, 3) + max(1, 2, 3)', '9'],
  ['round(2.5)', '3'],
  ['round(-2.5)', '-3'],
  ['round(1.005, 2)', '1.01'],
  ['round(1234, -2)', '1200'],
  ['round(pi, 4)', '3.1416'],
  ['floor(-1.2)', '-2'],
  ['ceil(-1.2)', '-1'],
  ['floor(sqrt(2)^2)', '2'],
  ['factorial(20)', '2432902008176640000'],
  ['-3!', '-6'],
  ['3000! / 2999!', '3000'],
  ['log(1000)', '3'],
  ['log(1/8, 2)', '-3'],
  ['ln(1)', '0'],
  ['exp(0)', '1'],
  ['cos(0)', '1'],
  ['SQRT(4)', '2'],
])('%s is exactly %s', async (expression, expected) => {
  expect(await compute(expression)).toBe(expected);
});

test.each([
  ['1/3', '0.333333333333333333333333333333 (rounded; exactly 1/3)'],
  ['sqrt(2)', '1.41421356237309504880168872421 (rounded)'],
  ['pi', '3.14159265358979323846264338328 (rounded)'],
  ['e', '2.71828182845904523536028747135 (rounded)'],
  ['sin(pi)', '0 (rounded)'],
  ['sin(30°)', '0.5 (rounded)'],
  ['tan(1)', '1.55740772465490223050697480746 (rounded)'],
  ['27^(1/3)', '3 (rounded)'],
  ['9^9^9', '4.28124773175747048036987115931e+369693099 (rounded)'],
  ['1.0001^100000', '22015.4560485521986457014565817 (rounded)'],
])('a rounded result says so: %s', async (expression, expected) => {
  expect(await compute(expression)).toBe(expected);
});

test.each([
  ['３×（４＋５）', '27'],
  ['１２．５÷２', '6.25'],
  ['10 − 4', '6'],
  ['5² + 2³', '33'],
  ['2⁻¹', '0.5'],
  ['5！', '120'],
  ['１０％', '0.1'],
  ['max（1，2）', '2'],
  ['round(π, 2)', '3.14'],
])('other spellings: %s is %s', async (expression, expected) => {
  expect(await compute(expression)).toBe(expected);
});

test.each([
  ['1/0', /Division by zero/],
  ['0^-1', /Division by zero/],
  ['5 % 0', /Division by zero/],
  ['sqrt(-1)', /negative/],
  ['(-8)^0.3', /negative/],
  ['ln(0)', /above 0/],
  ['log(5, 1)', /base 1/],
  ['tan(pi/2)', /no value/],
  ['1.5!', /whole number from 0 to 3000/],
  ['3001!', /whole number from 0 to 3000/],
  ['9^9^9^9', /too large/],
  ['1e99999999999999999999', /too large/],
  ['sin(1e40)', /angles/],
  ['round(1, 0.5)', /whole number of places/],
  ['1,000 + 1', /thousands/],
  ['max(1,000, 2)', /thousands/],
  ['10 % -3', /two things/],
  ['2(3+4)', /every operator/],
  ['2pi', /every operator/],
  ['', /nothing more/],
  ['1 +', /nothing more/],
  ['(1', /missing/],
  ['sqrt(1, 2)', /takes 1 values, not 2/],
  ['process.exit()', /"\." is not understood/],
  ['constructor', /not known/],
  ['tostring(1)', /not known/],
  ['一百', /"一" is not understood/],
  ['('.repeat(400), /levels/],
  [`2${'^2'.repeat(100)}`, /in a row/],
  ['1+'.repeat(400), /longer than 500/],
])('%s is refused with a reason', async (expression, reason) => {
  await expect(compute(expression)).rejects.toThrow(reason);
  await expect(compute(expression)).rejects.toBeInstanceOf(ToolError);
});

test('whole numbers of any size agree with BigInt', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
      fc.bigInt({ min: 1n, max: 10n ** 20n }),
      async (a, b) => {
        expect(await compute(`${a}*${b} + ${a} - ${b}`)).toBe(String(a * b + a - b));
        expect(await compute(`floor(${a}/${b}) * ${b} + mod(${a}, ${b})`)).toBe(String(a));
      },
    ),
    { numRuns: 100 },
  );
});

test('any text gives a result or a ToolError', async () => {
  const piece = fc.constantFrom(
    ...'0123456789.+-*/%^(),!e √°²',
    'sqrt(',
    'log(',
    'round(',
    'pi',
    '9^9',
    '1e308',
    'max(',
    '%',
    '３',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 14 }), async (pieces) => {
      const outcome = await compute(pieces.join('')).catch((error: unknown) => error);
      expect(typeof outcome === 'string' || outcome instanceof ToolError).toBe(true);
    }),
    { numRuns: 1500 },
  );
});

test.each([
  '3000!+'.repeat(80),
  '9^9^9*'.repeat(80),
  '(1/3^2500+1/7^1400)+'.repeat(20),
  'sqrt(3^20001)+'.repeat(30),
  '1.5^(1e14)*'.repeat(40),
  'tan(1e29)+'.repeat(45),
])('hard work stays short: %s', async (expression) => {
  const startedAt = performance.now();
  await compute(`${expression}1`);
  // Some 60 ms here; the bound only catches work that has no end.
  expect(performance.now() - startedAt).toBeLessThan(3000);
});

/** `calculator`: exact arithmetic on what the model wrote, without ever running it as code. */
import { z } from 'zod';
import { defineTool } from '../tool.js';
import { Arithmetic } from './arithmetic.js';
import { evaluate, functionNames } from './evaluate.js';
import { parseExpression } from './parse.js';

export function calculatorTool() {
  return defineTool({
    name: 'calculator',
    description:
      `Exact arithmetic: + - * / % ^ ( ) !, ${functionNames.join(', ')}, pi, e. ` +
      'Angles in radians (30° works), log is base 10 or log(x, base); 200 + 10% is 220.',
    input: z.strictObject({ expression: z.string().describe('e.g. 3 * (2.5 + 1/3)^2') }),
    isReadOnly: true,
    async run({ expression }) {
      const tree = parseExpression(expression);
      // Loaded at the first use: most conversations never compute.
      const { Decimal } = await import('decimal.js');
      const arithmetic = new Arithmetic(Decimal);
      return arithmetic.format(evaluate(tree, arithmetic));
    },
  });
}

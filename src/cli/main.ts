/** The command line's door: runs one command and returns its exit code. */
import { reportError } from './report-error.js';

/** 0 ok, 1 failed, 2 wrong use. Nothing is imported before it is needed: `start` should not wait for the others. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    if (argv.length === 1 && argv[0] === 'start') {
      const { startCommand } = await import('./start.js');
      return await startCommand();
    }
    const { runProgram } = await import('./program.js');
    return await runProgram(argv);
  } catch (error) {
    return reportError(error);
  }
}

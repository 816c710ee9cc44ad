/** Every command of `picobot`. A command's code is imported when it runs. */
import { Command, CommanderError } from 'commander';
import { packageInfo } from '../config/package-info.js';

/** Returns the exit code: what the command says, or 2 for wrong use. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  let exitCode = 0;
  /** Runs a command and keeps its exit code. */
  const run =
    <Arguments extends unknown[]>(action: (...args: Arguments) => Promise<number> | number) =>
    async (...args: Arguments) => {
      exitCode = await action(...args);
    };

  const program = new Command('picobot')
    .description('A self-hosted, multi-channel AI chat bot: one process, one SQLite file, every chat.')
    .version(packageInfo().version)
    .exitOverride()
    .configureHelp({ showGlobalOptions: false })
    .showHelpAfterError('(add --help for the usage)');

  program
    .command('start')
    .description('start the daemon in the foreground')
    .action(run(async () => (await import('./start.js')).startCommand()));

  program
    .command('status')
    .description('show what the running daemon does')
    .option('--json', 'print JSON')
    .action(run(async (options: { json?: boolean }) => (await import('./status.js')).statusCommand(options)));

  const config = program.command('config').description('show, change and check the configuration');
  config
    .command('get')
    .description('print what holds, secrets masked')
    .argument('[path]', 'such as gateway.port; without it everything')
    .option('--json', 'print JSON, also for a single text')
    .action(
      run(async (path: string | undefined, options: { json?: boolean }) =>
        (await import('./config.js')).configGet(path, options),
      ),
    );
  config
    .command('set')
    .description('write one value into the configuration file')
    .argument('<path>', 'such as agent.model')
    .argument('<value>', 'text, or JSON where a text does not fit; "-" reads it from stdin')
    .option('--json', 'print JSON')
    .action(
      run(async (path: string, value: string, options: { json?: boolean }) =>
        (await import('./config.js')).configSet(path, value, options),
      ),
    );
  config
    .command('unset')
    .description('remove one key from the file, so that its default holds')
    .argument('<path>')
    .option('--json', 'print JSON')
    .action(
      run(async (path: string, options: { json?: boolean }) =>
        (await import('./config.js')).configUnset(path, options),
      ),
    );
  config
    .command('validate')
    .description('check the configuration and print every problem')
    .option('--json', 'print JSON')
    .action(run(async (options: { json?: boolean }) => (await import('./config.js')).configValidate(options)));
  config
    .command('schema')
    .description('print the JSON schema of the configuration')
    .action(run(async () => (await import('./config.js')).configShowSchema()));

  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and version that were asked for end with 0; commander has printed everything already.
    return error.exitCode === 0 ? 0 : 2;
  }
  return exitCode;
}

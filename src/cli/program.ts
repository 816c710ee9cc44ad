/** Every command of `picobot`. A command's code is imported when it runs. */
import { type Command, CommanderError, InvalidArgumentError, Command as Program } from 'commander';
import { packageInfo } from '../config/package-info.js';
import type { SessionsAction, SessionsOptions } from './sessions.js';

interface Connection {
  url?: string;
  token?: string;
}
interface Json {
  json?: boolean;
}

/** Turns a command's work into an action that keeps its exit code. */
type Run = <Arguments extends unknown[]>(
  work: (...args: Arguments) => Promise<number> | number,
) => (...args: Arguments) => Promise<void>;

/** Returns the exit code: what the command says, or 2 for wrong use. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  let exitCode = 0;
  const run: Run =
    (work) =>
    async (...args) => {
      exitCode = await work(...args);
    };
  const program = new Program('picobot')
    .description('A self-hosted, multi-channel AI chat bot: one process, one SQLite file, every chat.')
    .version(packageInfo().version)
    .exitOverride()
    .showHelpAfterError('(add --help for the usage)');
  addDaemonCommands(program, run);
  addTalkCommands(program, run);
  addSessionsCommands(program, run);
  addConfigCommands(program, run);

  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and version that were asked for end with 0; commander has printed everything already.
    return error.exitCode === 0 ? 0 : 2;
  }
  return exitCode;
}

function addDaemonCommands(program: Command, run: Run): void {
  program
    .command('start')
    .description('start the daemon in the foreground')
    .action(run(async () => (await import('./start.js')).startCommand()));
  withConnection(program.command('status'))
    .description('show what the running daemon does')
    .option('--json', 'print JSON')
    .action(run(async (options: Connection & Json) => (await import('./status.js')).statusCommand(options)));
}

function addTalkCommands(program: Command, run: Run): void {
  withConnection(program.command('chat'))
    .description('talk to it in this terminal')
    .option('-s, --session <id>', 'in this dialog: its id, or the beginning of it; default: the current one')
    .option('--json', 'print every frame as a line of JSON')
    .action(
      run(async (options: Connection & Json & { session?: string }) =>
        (await import('./chat.js')).chatCommand(options),
      ),
    );
  withConnection(program.command('ask'))
    .description('ask one question and print the answer; text from a pipe is added to it')
    .argument('[text...]', 'the question')
    .option('-s, --session <id>', 'go on in this dialog: its id, or the beginning of it')
    .option('--json', 'print JSON')
    .action(
      run(async (words: string[], options: Connection & Json & { session?: string }) => {
        const { stdin, stdout, stderr } = process;
        const { askCommand } = await import('./ask.js');
        return askCommand(words.length > 0 ? words.join(' ') : undefined, { ...options, stdin, stdout, stderr });
      }),
    );
}

function addSessionsCommands(program: Command, run: Run): void {
  const sessions = program.command('sessions').description('list, show, search and change dialogs');
  const add = (action: SessionsAction, usage: string, description: string) =>
    withConnection(sessions.command(`${action} ${usage}`.trim(), { isDefault: action === 'list' }))
      .description(description)
      .option('--json', 'print JSON')
      .action(
        run(async (...given: unknown[]) => {
          // Commander gives the arguments, then the options, then the command.
          const args = given.slice(0, -2).flat() as string[];
          const { sessionsCommand } = await import('./sessions.js');
          return sessionsCommand(action, args, given.at(-2) as SessionsOptions);
        }),
      );
  add('list', '', 'newest first')
    .option('--channel <id>', 'of this channel')
    .option('--chat <id>', 'of this chat of the channel')
    .option('--archived', 'archived ones only')
    .option('--limit <count>', 'how many', count);
  add('show', '<id>', 'print the conversation').option('--limit <count>', 'how many messages, the newest', count);
  add('search', '<query...>', 'find words in all dialogs')
    .option('--role <role>', 'said by "user" or "assistant"')
    .option('--limit <count>', 'how many', count);
  add('rename', '<id> <title...>', 'give a dialog another title');
  add('archive', '<id>', 'take a dialog off the list; it stays searchable');
  add('restore', '<id>', 'bring an archived or deleted dialog back');
  add('delete', '<id>', 'delete a dialog; `restore` brings it back');
}

function addConfigCommands(program: Command, run: Run): void {
  const load = () => import('./config.js');
  const config = program.command('config').description('show, change and check the configuration');
  config
    .command('get [path]')
    .description('print what holds, such as gateway.port; without a path everything; secrets masked')
    .option('--json', 'print JSON, also for a single text')
    .action(run(async (path: string | undefined, options: Json) => (await load()).configGet(path, options)));
  config
    .command('set <path> <value>')
    .description('write a value into the file: text, or JSON where a text does not fit; "-" reads it from stdin')
    .option('--json', 'print JSON')
    .action(run(async (path: string, value: string, options: Json) => (await load()).configSet(path, value, options)));
  config
    .command('unset <path>')
    .description('remove a key from the file, so that its default holds')
    .option('--json', 'print JSON')
    .action(run(async (path: string, options: Json) => (await load()).configUnset(path, options)));
  config
    .command('validate')
    .description('check the configuration and print every problem')
    .option('--json', 'print JSON')
    .action(run(async (options: Json) => (await load()).configValidate(options)));
  config
    .command('schema')
    .description('print the JSON schema of the configuration')
    .action(run(async () => (await load()).configShowSchema()));
}

function withConnection(command: Command): Command {
  return command
    .option('--url <url>', 'of the daemon; default: the one of this home')
    .option('--token <token>', 'its access token; PICOBOT_TOKEN keeps it out of the process list');
}

function count(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('Expected a whole number from 1.');
  return Number(text);
}

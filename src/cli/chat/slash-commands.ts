/** What begins with a slash, as far as the terminal must know it. The daemon runs them; /help there says what they do. */

/** For completion; must agree with the daemon's table. */
export const daemonCommands: readonly string[] = [
  'help',
  'new',
  'sessions',
  'switch',
  'rename',
  'archive',
  'delete',
  'restore',
  'search',
  'memory',
  'compact',
  'usage',
  'dump',
  'info',
  'stop',
];

/** Run here. */
export const localCommands: readonly string[] = ['quit', 'exit'];

/** Take the id of a dialog. */
export const dialogCommands: readonly string[] = ['switch', 'restore'];

/** After these another dialog may be the current one. */
const movingCommands: ReadonlySet<string> = new Set(['new', 'switch', 'archive', 'delete', 'restore']);

export function commandName(text: string): string | undefined {
  return /^\/([a-z?][a-z0-9_-]*|\?)(?:\s|$)/i.exec(text.trim())?.[1]?.toLowerCase();
}

export function mayMove(text: string): boolean {
  const name = commandName(text);
  return name !== undefined && movingCommands.has(name);
}

export function isQuit(text: string): boolean {
  const name = commandName(text);
  return name !== undefined && localCommands.includes(name);
}

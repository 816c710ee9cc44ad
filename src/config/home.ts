/** PICOBOT_HOME: where everything of one installation lies, and its first creation. */
import { randomBytes } from 'node:crypto';
import { accessSync, constants, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { ConfigError } from './config-error.js';
import type { Environment } from './environment.js';
import { readTextFile } from './read-text-file.js';

/** Absolute paths. */
export interface HomePaths {
  home: string;
  configFile: string;
  /** The newest `configFile` that could be loaded. */
  lastGoodFile: string;
  envFile: string;
  tokenFile: string;
  skillsDir: string;
  logFile: string;
  /** The default, until the configuration names another. */
  workspace: string;
}

export function resolveHome(env: Environment): HomePaths {
  const userHome = env.HOME || env.USERPROFILE || homedir();
  const home = expandPath(env.PICOBOT_HOME || '~/.picobot', userHome, '.');
  const configFile = env.PICOBOT_CONFIG ? expandPath(env.PICOBOT_CONFIG, userHome, '.') : join(home, 'config.json');
  return {
    home,
    configFile,
    lastGoodFile: `${configFile}.last-good`,
    envFile: join(home, '.env'),
    tokenFile: join(home, 'token'),
    skillsDir: join(home, 'skills'),
    logFile: join(home, 'logs', 'picobot.log'),
    workspace: join(home, 'workspace'),
  };
}

/** Absolute: `~` is the user's home, anything relative is meant from `base`. */
export function expandPath(path: string, userHome: string, base: string): string {
  if (path === '~' || /^~[\\/]/.test(path)) return join(resolve(userHome), path.slice(1));
  return resolve(base, path);
}

/**
 * Creates what is missing: the home (for its owner only), workspace, skills, and a random token. Nothing that exists
 * is changed. Throws `ConfigError` (`home_unwritable`, `workspace_unwritable`, `token_unreadable`).
 */
export function ensureHome(paths: HomePaths): { token: string; isNew: boolean } {
  const makeHome = 'Give that folder to yourself, or name another one in PICOBOT_HOME.';
  ensureFolder(paths.home, 'home_unwritable', makeHome, 0o700);
  ensureFolder(paths.skillsDir, 'home_unwritable', makeHome);
  ensureFolder(paths.workspace, 'workspace_unwritable', 'Set `workspace` to a folder that you may write.');
  const isNew = createToken(paths.tokenFile);
  return { token: readToken(paths.tokenFile), isNew };
}

/** Empty when there is no file yet. Throws `ConfigError` (`token_unreadable`), also for a file without a token. */
export function readToken(tokenFile: string): string {
  let text: string | undefined;
  try {
    text = readTextFile(tokenFile);
  } catch (error) {
    throw new ConfigError('token_unreadable', (error as Error).message, { cause: error });
  }
  if (text === undefined) return '';
  const token = text.trim();
  if (token) return token;
  throw new ConfigError('token_unreadable', `${tokenFile} is empty. Delete it to get a new token at the next start.`);
}

function ensureFolder(
  folder: string,
  code: 'home_unwritable' | 'workspace_unwritable',
  whatToDo: string,
  mode?: number,
): void {
  try {
    mkdirSync(folder, { recursive: true, ...(mode !== undefined && { mode }) });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code;
    throw new ConfigError(code, `Cannot create or write ${folder} (${reason}). ${whatToDo}`, { cause: error });
  }
}

/** False when there is one: another process may have made it at this very moment, so the file system decides. */
function createToken(tokenFile: string): boolean {
  const token = randomBytes(32).toString('base64url');
  try {
    writeFileSync(tokenFile, `${token}\n`, { flag: 'wx', mode: 0o600, flush: true });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    // A full disk leaves an empty file behind, which would look like a token that somebody emptied.
    rmSync(tokenFile, { force: true });
    throw new ConfigError('home_unwritable', `Cannot write ${tokenFile} (${code}). Is the disk full?`, {
      cause: error,
    });
  }
}

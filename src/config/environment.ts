/** The process environment, read here and nowhere else, and the home's `.env`, which never becomes part of it. */
import { parseEnv } from 'node:util';
import { readTextFile } from './read-text-file.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What the process was started with. Only programs' entries call this; everything else is handed an environment. */
export function processEnvironment(): Environment {
  return process.env;
}

/** The variables of `.env` below those of the real environment, which win. Throws `ConfigError` (`config_unreadable`). */
export function withEnvFile(env: Environment, envFile: string): Environment {
  const text = readTextFile(envFile);
  return text === undefined ? env : { ...parseEnv(text), ...env };
}

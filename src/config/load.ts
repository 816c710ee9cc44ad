/** Reads home, `.env` and config.json into one frozen configuration, or throws one error with every problem. */
import { dirname } from 'node:path';
import { writeFileAtomic } from './atomic-write.js';
import { ConfigError, type ConfigProblem, describeProblem } from './config-error.js';
import { formatPath } from './config-path.js';
import { type Environment, withEnvFile } from './environment.js';
import { ensureHome, expandPath, type HomePaths, readToken, resolveHome } from './home.js';
import { homeNotices } from './home-notices.js';
import { mapSecrets } from './map-secrets.js';
import { applyOverrides } from './overrides.js';
import { type ParsedFile, parseFile } from './parse-file.js';
import { readTextFile } from './read-text-file.js';
import { mask } from './redact.js';
import type { Config } from './schema.js';
import { isUnused, substitute } from './substitute.js';
import { validate } from './validate.js';

export interface LoadedConfig {
  /** Deeply frozen. */
  config: Config;
  paths: HomePaths;
  /** The access token of the gateway; empty only before the home was created. */
  token: string;
  /** What a person should know: a file that others can read, a token that is easy to guess. */
  notices: string[];
  /** Every secret value there is, for redaction. */
  secrets: string[];
  /** Those of `keyVariables` that are set, from the environment or `.env`. */
  environmentKeys: Record<string, string>;
}

export interface LoadOptions {
  env: Environment;
  /** Names of the variables that hold platforms' keys, such as OPENAI_API_KEY. */
  keyVariables?: readonly string[];
}

/** Loads without creating anything but the copy of the last good file. Throws `ConfigError`. */
export function loadConfig(options: LoadOptions): LoadedConfig {
  return loadFrom(resolveHome(options.env), options);
}

/** The same for a home that is known already: relative paths in the environment meant the folder of the start. */
export function loadFrom(home: HomePaths, options: LoadOptions): LoadedConfig {
  const env = withEnvFile(options.env, home.envFile);
  const text = readTextFile(home.configFile);
  const loaded = interpret(text, { ...options, env }, home);
  if (text !== undefined) keepLastGood(home, text, loaded.notices);
  return loaded;
}

/** Loads, and creates what a first start needs: home, workspace, token. Throws `ConfigError`. */
export function openConfig(options: LoadOptions): LoadedConfig {
  const loaded = loadConfig(options);
  const { token } = ensureHome(loaded.paths);
  if (loaded.token) return loaded;
  return { ...loaded, token, secrets: [...loaded.secrets, token] };
}

/** What `text` as the content of config.json means under `options.env`, which holds `.env` already. Writes nothing. */
export function interpret(text: string | undefined, options: LoadOptions, home: HomePaths): LoadedConfig {
  const file = parseFile(text ?? '', home.configFile, lastGoodHint(home));
  const substituted = substitute(file.data, options.env);
  const overrides = applyOverrides(substituted.data, options.env);
  const problems: ConfigProblem[] = [
    ...substituted.malformed,
    ...unsetProblems(substituted),
    ...overrides.problems,
  ].map(({ path, message }) => ({ path: formatPath(path), message, ...file.locate(path) }));
  const validated = validate(overrides.data);
  if ('problems' in validated) {
    const isReported = new Set(problems.map((problem) => problem.path));
    for (const { at, path, message } of validated.problems) {
      if (!isReported.has(path)) problems.push({ path, message, ...file.locate(at) });
    }
  }
  if ('config' in validated) problems.push(...leftMasks(validated.config, file));
  if (problems.length > 0 || !('config' in validated)) throw invalid(problems, home);

  const config = deepFreeze(validated.config);
  const paths = { ...home, workspace: workspaceOf(config, home, options.env) };
  const token = config.gateway.token || readToken(home.tokenFile);
  const environmentKeys = pickSet(options.env, options.keyVariables ?? []);
  const secrets = new Set([token, ...Object.values(environmentKeys)].filter(Boolean));
  mapSecrets(config, (secret) => secrets.add(secret));
  return { config, paths, token, notices: homeNotices(paths, token), secrets: [...secrets], environmentKeys };
}

/** Somebody pasted what `config get` shows. */
function leftMasks(config: Config, file: ParsedFile): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  mapSecrets(config, (secret, path) => {
    if (secret === mask)
      problems.push({ path: formatPath(path), message: 'write the secret itself, not its mask', ...file.locate(path) });
  });
  return problems;
}

function unsetProblems({ unset, data }: ReturnType<typeof substitute>) {
  return unset
    .filter(({ path }) => !isUnused(path, data))
    .map(({ path, name }) => ({
      path,
      message: `the variable ${name} is not set; set it in the environment or in .env, or write \${${name}:-default}`,
    }));
}

function invalid(problems: ConfigProblem[], home: HomePaths): ConfigError {
  const sorted = problems.sort((one, other) => (one.line ?? 0) - (other.line ?? 0));
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  const lines = sorted.map((problem) => `\n  ${describeProblem(problem)}`).join('');
  return new ConfigError('config_invalid', `${home.configFile} has ${count}:${lines}`, { problems: sorted });
}

/** Ends the message about a broken file. */
export function lastGoodHint(home: HomePaths): string {
  const kept = 'The file was left as it is.';
  try {
    return readTextFile(home.lastGoodFile) === undefined ? kept : `${kept} The last good copy is ${home.lastGoodFile}`;
  } catch {
    return kept;
  }
}

function keepLastGood(home: HomePaths, text: string, notices: string[]): void {
  try {
    if (readTextFile(home.lastGoodFile) !== text) writeFileAtomic(home.lastGoodFile, text);
  } catch (error) {
    notices.push(
      `No copy of the configuration could be kept in ${dirname(home.lastGoodFile)}: ${(error as Error).message}`,
    );
  }
}

function workspaceOf(config: Config, home: HomePaths, env: Environment): string {
  if (!config.workspace) return home.workspace;
  return expandPath(config.workspace, env.HOME || env.USERPROFILE || '', home.home);
}

function pickSet(env: Environment, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const child of Object.values(value)) deepFreeze(child);
  }
  return value;
}

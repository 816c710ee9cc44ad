/**
 * Changes config.json: comments, layout and `${…}` references stay; the result is validated before the file is
 * replaced in one step. A file that cannot be read as JSON is never overwritten.
 */
import { isDeepStrictEqual } from 'node:util';
import { writeFileAtomic } from './atomic-write.js';
import { ConfigError, describeProblem } from './config-error.js';
import type { ConfigPath } from './config-path.js';
import { type Change, editText } from './edit-text.js';
import { processEnvironment, withEnvFile } from './environment.js';
import type { HomePaths } from './home.js';
import { interpret, type LoadedConfig, type LoadOptions, lastGoodHint, loadFrom } from './load.js';
import { parseFile } from './parse-file.js';
import { readTextFile } from './read-text-file.js';
import { mask } from './redact.js';
import { isSecret, schemaAt, takesNull } from './schema-walk.js';

/** `value` undefined: the key is removed, so that its default holds again. Returns what now holds. Throws `ConfigError`. */
export function setConfigValue(
  home: HomePaths,
  path: ConfigPath,
  value: unknown,
  options: LoadOptions = { env: processEnvironment() },
): LoadedConfig {
  const isKept = value === mask && isSecretAt(path);
  return change(home, options, () => (isKept ? [] : [{ path, value }]));
}

/**
 * Merges `data`, a configuration in whole or in part as a client got it: only what differs from what holds now is
 * written; a masked secret keeps its value; null removes a key where null is no value. Throws `ConfigError`.
 */
export function saveConfig(
  home: HomePaths,
  data: Record<string, unknown>,
  options: LoadOptions = { env: processEnvironment() },
): LoadedConfig {
  return change(home, options, (text, env) => {
    const raw = parseFile(text, home.configFile, lastGoodHint(home)).data;
    const { config } = interpret(text, { ...options, env }, home);
    return differences(data, config, raw, []);
  });
}

function change(
  home: HomePaths,
  options: LoadOptions,
  changesFor: (text: string, env: LoadOptions['env']) => Change[],
): LoadedConfig {
  const env = withEnvFile(options.env, home.envFile);
  for (let attempt = 1; ; attempt++) {
    const text = readTextFile(home.configFile);
    parseFile(text ?? '', home.configFile, lastGoodHint(home));
    const changed = editText(text ?? '', changesFor(text ?? '', env));
    refuseInvalid(changed, { ...options, env }, home);
    if (changed === text || (text === undefined && isBlank(changed))) break;
    // An editor or another command may have saved since we read: start again from its text.
    if (attempt < 5 && readTextFile(home.configFile) !== text) continue;
    write(home, changed);
    break;
  }
  return loadFrom(home, options);
}

function refuseInvalid(changed: string, options: LoadOptions, home: HomePaths): void {
  try {
    interpret(changed, options, home);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // Lines would be those of a text that nobody sees.
    const problems = error.problems.map(({ path, message }) => ({ path, message }));
    const list = problems.map((problem) => `\n  ${describeProblem(problem)}`).join('');
    throw new ConfigError(error.code, `Nothing was saved, because this would not be valid:${list}`, {
      problems,
      cause: error,
    });
  }
}

function isBlank(text: string): boolean {
  return text.trim() === '{}';
}

function write(home: HomePaths, text: string): void {
  try {
    writeFileAtomic(home.configFile, text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOSPC' ? 'the disk is full' : `${code}`;
    throw new ConfigError('config_unwritable', `Cannot write ${home.configFile}: ${why}. The old file is unchanged.`, {
      cause: error,
    });
  }
}

function differences(next: unknown, effective: unknown, raw: unknown, path: ConfigPath): Change[] {
  if (isDeepStrictEqual(next, effective)) return [];
  if (next === mask && typeof effective === 'string' && effective && isSecretAt(path)) return [];
  const schema = schemaAt(path);
  if (next === null && schema && !takesNull(schema)) return [{ path, value: undefined }];
  if (isObject(next) && (isObject(effective) || isObject(raw))) {
    return Object.keys(next).flatMap((key) =>
      differences(next[key], memberOf(effective, key), memberOf(raw, key), [...path, key]),
    );
  }
  return [{ path, value: withReferences(next, effective, raw) }];
}

/** Items of a list that did not change keep the reference they are written as. */
function withReferences(next: unknown, effective: unknown, raw: unknown): unknown {
  if (!Array.isArray(next) || !Array.isArray(effective) || !Array.isArray(raw)) return next;
  return next.map((item) => {
    const index = effective.findIndex((old) => isDeepStrictEqual(old, item));
    return index >= 0 && index < raw.length ? raw[index] : item;
  });
}

function isSecretAt(path: ConfigPath): boolean {
  const schema = schemaAt(path);
  return schema !== undefined && isSecret(schema);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function memberOf(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

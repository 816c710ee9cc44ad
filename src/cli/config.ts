/** `picobot config`: shows, changes and checks the configuration. Secrets are never printed. */
import { ConfigError } from '../config/config-error.js';
import { type ConfigPath, formatPath, parsePath, valueAt } from '../config/config-path.js';
import { processEnvironment } from '../config/environment.js';
import { resolveHome } from '../config/home.js';
import { configJsonSchema } from '../config/json-schema.js';
import { loadConfig } from '../config/load.js';
import { maskSecrets } from '../config/mask.js';
import { configSchema } from '../config/schema.js';
import { childOf, knownKeys, type Schema, schemaAt, takesNull, typeOf } from '../config/schema-walk.js';
import { suggestKey } from '../config/suggest.js';
import { setConfigValue } from '../config/write.js';
import { UserError } from '../protocol/errors.js';
import { errorText } from './report-error.js';

interface Output {
  json?: boolean;
}

const print = (text: string) => process.stdout.write(`${text}\n`);

/** Prints what holds at `pathText`, or everything. Texts are printed bare unless JSON is wanted. */
export function configGet(pathText: string | undefined, { json = false }: Output): number {
  const path = pathText === undefined ? [] : readPath(pathText);
  const { config } = loadConfig({ env: processEnvironment() });
  const value = valueAt(maskSecrets(config), path);
  if (value === undefined) {
    requireKnown(path);
    throw new UserError('not_set', `${pathText} is not set and has no default.`);
  }
  print(typeof value === 'string' && !json ? value : JSON.stringify(value, null, 2));
  return 0;
}

/** `text` is JSON where the schema wants more than a text; "-" reads it from stdin, so that a secret stays out of the shell's history. */
export async function configSet(pathText: string, text: string, output: Output): Promise<number> {
  const path = readPath(pathText);
  requireKnown(path);
  const given = text === '-' ? await readStdin() : text;
  return change(path, toValue(given, schemaAt(path)), output);
}

/** Removes a key, so that its default holds again. */
export function configUnset(pathText: string, output: Output): number {
  return change(readPath(pathText), undefined, output);
}

/** Exit code 1 when there are problems; all of them are printed. */
export function configValidate({ json = false }: Output): number {
  const env = processEnvironment();
  const { configFile } = resolveHome(env);
  try {
    const { notices } = loadConfig({ env });
    print(json ? JSON.stringify({ valid: true, file: configFile, problems: [], notices }) : `${configFile} is valid.`);
    if (!json) for (const notice of notices) print(`Note: ${notice}`);
    return 0;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { code, message, problems } = error;
    if (json) print(JSON.stringify({ valid: false, file: configFile, code, message, problems }));
    else process.stderr.write(`${errorText(error)}\n`);
    return 1;
  }
}

export function configShowSchema(): number {
  print(JSON.stringify(configJsonSchema(), null, 2));
  return 0;
}

function change(path: ConfigPath, value: unknown, { json = false }: Output): number {
  const env = processEnvironment();
  const { config, paths } = setConfigValue(resolveHome(env), path, value, { env });
  const now = valueAt(maskSecrets(config), path);
  const pathText = formatPath(path);
  if (json) print(JSON.stringify({ path: pathText, value: now ?? null, file: paths.configFile }));
  else {
    const shown = now === undefined ? 'is not set' : `is ${JSON.stringify(now)}`;
    print(`${pathText} ${shown} in ${paths.configFile}. A running daemon takes it at its next start.`);
  }
  return 0;
}

function readPath(text: string): ConfigPath {
  const path = parsePath(text);
  if (path) return path;
  throw new UserError(
    'invalid_path',
    `"${text}" is not a path. Write it like gateway.port or platforms["z.ai"].apiKey.`,
  );
}

/** Throws for a name that no schema knows, with the nearest that it does. */
function requireKnown(path: ConfigPath): void {
  let schema: Schema | undefined = configSchema;
  for (const [index, key] of path.entries()) {
    if (!schema || typeOf(schema) === 'unknown') return;
    const child: Schema | undefined = childOf(schema, key);
    if (!child && knownKeys(schema)) {
      const suggestion = suggestKey(String(key), schema, path.slice(0, index));
      const hint = suggestion ? ` Did you mean "${suggestion}"?` : '';
      throw new UserError('unknown_key', `There is no key ${formatPath(path.slice(0, index + 1))}.${hint}`);
    }
    schema = child;
  }
}

function toValue(text: string, schema: Schema | undefined): unknown {
  if (schema && text === 'null' && takesNull(schema)) return null;
  if (schema && ['string', 'enum', 'union'].includes(typeOf(schema))) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The schema says what was expected; a reference such as ${PORT} is a text anyway.
    return text;
  }
}

async function readStdin(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
  return text.replace(/\r?\n$/, '');
}

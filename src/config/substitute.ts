/** `${VAR}` and `${VAR:-default}` in texts of the configuration; `$${` stands for a literal `${`. */
import { type ConfigPath, valueAt } from './config-path.js';
import type { Environment } from './environment.js';
import { schemaAt, typeOf } from './schema-walk.js';

export interface Substituted {
  data: Record<string, unknown>;
  /** References to variables that are not set. The value is left out of `data`, or an empty text inside an array. */
  unset: { path: ConfigPath; name: string }[];
  /** `${…}` that is no reference. */
  malformed: { path: ConfigPath; message: string }[];
}

const reference = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{/g;

/** Changes nothing of `data`. */
export function substitute(data: Record<string, unknown>, env: Environment): Substituted {
  const unset: Substituted['unset'] = [];
  const malformed: Substituted['malformed'] = [];

  const visit = (value: unknown, path: ConfigPath): unknown => {
    if (typeof value === 'string') return visitText(value, path);
    if (Array.isArray(value)) return value.map((item, index) => visit(item, [...path, index]) ?? '');
    if (typeof value !== 'object' || value === null) return value;
    const result: Record<string, unknown> = {};
    for (const [key, child] of Object.entries(value)) {
      const replaced = visit(child, [...path, key]);
      if (replaced !== undefined) result[key] = replaced;
    }
    return result;
  };

  const visitText = (text: string, path: ConfigPath): unknown => {
    if (!text.includes('${')) return text;
    let isComplete = true;
    const replaced = text.replace(reference, (match, name: string | undefined, fallback: string | undefined) => {
      if (match === '$${') return '${';
      if (name === undefined) {
        malformed.push({ path, message: malformedMessage });
        return match;
      }
      const value = env[name];
      if (fallback !== undefined) return value || fallback;
      if (value !== undefined) return value;
      unset.push({ path, name });
      isComplete = false;
      return '';
    });
    return isComplete ? asType(replaced, path) : undefined;
  };

  return { data: visit(data, []) as Record<string, unknown>, unset, malformed };
}

const malformedMessage =
  'this is not a reference: write ${NAME} or ${NAME:-default} with letters, digits and _ in the name, or $${ for a literal ${';

/** Variables are texts; where the schema wants a number or a yes or no, `"${PORT}"` becomes one. */
function asType(text: string, path: ConfigPath): unknown {
  const schema = schemaAt(path);
  const type = schema && typeOf(schema);
  if (type === 'number' && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** True when the value at `path` is for a platform that no model names, or for a channel that is not enabled. */
export function isUnused(path: ConfigPath, data: Record<string, unknown>): boolean {
  const [section, name, inner, account] = path;
  if (section === 'platforms') return !usedPlatforms(data).has(String(name));
  if (section !== 'channels' || name === undefined) return false;
  const place = inner === 'accounts' && account !== undefined ? [section, name, inner, account] : [section, name];
  return valueAt(data, [...place, 'enabled']) !== true;
}

function usedPlatforms(data: Record<string, unknown>): Set<string> {
  const agent = ['model', 'auxiliaryModel', 'embeddingModel'].map((key) => valueAt(data, ['agent', key]));
  const fallbacks = valueAt(data, ['agent', 'fallbacks']);
  const channels = Object.values(valueAt(data, ['channels']) ?? {}).flatMap((channel) => [
    valueAt(channel, ['model']),
    ...Object.values(valueAt(channel, ['accounts']) ?? {}).map((account) => valueAt(account, ['model'])),
  ]);
  const models = [...agent, ...(Array.isArray(fallbacks) ? fallbacks : []), ...channels];
  return new Set(models.flatMap((model) => (typeof model === 'string' ? model.split('/', 1) : [])));
}

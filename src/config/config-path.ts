/** Paths into the configuration: `channels.telegram.token`, `platforms["z.ai"].apiKey`, `agent.fallbacks[0]`. */

export type ConfigPath = readonly (string | number)[];

export function formatPath(path: ConfigPath): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[\p{L}_$<][\p{L}\p{N}_$>-]*$/u.test(part)) text += text ? `.${part}` : part;
    else text += `[${JSON.stringify(part)}]`;
  }
  return text;
}

/** The parts, or undefined when `text` is not a path. A part between dots may hold anything but dots, brackets and quotes. */
export function parsePath(text: string): ConfigPath | undefined {
  const path: (string | number)[] = [];
  let rest = text;
  while (rest) {
    const isFirst = path.length === 0;
    const match =
      /^\[(0|[1-9]\d{0,8})\]/.exec(rest) ??
      /^\[("(?:[^"\\]|\\.)*")\]/.exec(rest) ??
      (isFirst ? /^([^.[\]"]+)/ : /^\.([^.[\]"]+)/).exec(rest);
    const part = match?.[1];
    if (!match || part === undefined) return undefined;
    rest = rest.slice(match[0].length);
    if (!match[0].startsWith('[')) path.push(part);
    else if (part.startsWith('"')) {
      const name = unquote(part);
      if (name === undefined) return undefined;
      path.push(name);
    } else path.push(Number(part));
  }
  return path.length > 0 ? path : undefined;
}

/** What stands at `path`, or undefined. */
export function valueAt(data: unknown, path: ConfigPath): unknown {
  let value = data;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string | number, unknown>)[part];
  }
  return value;
}

function unquote(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}

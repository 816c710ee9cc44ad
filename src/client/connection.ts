/** Where the daemon is and which token it wants: what the command line says, else what the home says. */
import { type Environment, processEnvironment } from '../config/environment.js';
import { loadConfig } from '../config/load.js';
import { UserError } from '../protocol/errors.js';

export interface ConnectionChoice {
  url?: string;
  token?: string;
}

export interface ConnectionTarget {
  /** `http:` or `https:`, without a slash at the end. */
  url: string;
  token: string;
}

/** Throws `ConfigError`; `UserError`: `invalid_url`, `token_needed`, and `not_set_up` before the first start. */
export function resolveConnection(choice: ConnectionChoice, env: Environment = processEnvironment()): ConnectionTarget {
  const url = choice.url === undefined ? undefined : readUrl(choice.url);
  const given = choice.token || (url && env.PICOBOT_TOKEN);
  // Then nothing is asked of the home, which need not be there.
  if (url && given) return { url, token: given };

  const { config, token, paths } = loadConfig({ env });
  const own = ownUrl(config.gateway);
  const target = { url: url ?? own, token: choice.token || token };
  if (!target.token) {
    throw new UserError(
      'not_set_up',
      `There is no token in ${paths.home} yet. Start the daemon once with "npm start", or give --url and --token.`,
    );
  }
  if (url && !given && !isHere(url, own)) {
    throw new UserError(
      'token_needed',
      `${url} is not the daemon of this home, so it does not get this home's token. Give its own with --token or PICOBOT_TOKEN.`,
    );
  }
  return target;
}

function readUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`);
  } catch (error) {
    throw invalidUrl(text, error);
  }
  if (url.protocol === 'ws:') url.protocol = 'http:';
  if (url.protocol === 'wss:') url.protocol = 'https:';
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw invalidUrl(text);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

function invalidUrl(text: string, cause?: unknown): UserError {
  return new UserError('invalid_url', `"${text}" is not an address. Write it like http://127.0.0.1:18880.`, { cause });
}

/** "Every address" is none to connect to. */
function ownUrl({ host, port }: { host: string; port: number }): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

function isHere(url: string, own: string): boolean {
  const { hostname } = new URL(url);
  return hostname === new URL(own).hostname || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

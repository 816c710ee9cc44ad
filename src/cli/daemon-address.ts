/** Where the daemon of this home listens, and the token it wants. */
import { processEnvironment } from '../config/environment.js';
import { loadConfig } from '../config/load.js';
import { UserError } from '../protocol/errors.js';

export interface DaemonAddress {
  /** Without a slash at the end. */
  url: string;
  token: string;
}

/** Throws `ConfigError`; `UserError` (`not_set_up`) before the first start. */
export function daemonAddress(): DaemonAddress {
  const { config, token, paths } = loadConfig({ env: processEnvironment() });
  if (!token) {
    throw new UserError('not_set_up', `There is no token in ${paths.home} yet. Start the daemon once: picobot start`);
  }
  const { host, port } = config.gateway;
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return { url: `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`, token };
}

/** From `PICOBOT_HOME` to what `createApp` takes: for `picobot start` and for embedding programs. */
import type { AppConfig } from './app.js';
import { loadChannelSources } from './channel-sources.js';
import type { Environment } from './config/environment.js';
import { type LoadedConfig, openConfig } from './config/load.js';
import { packageInfo } from './config/package-info.js';
import { createSettings } from './config/settings.js';
import { localTimeZone } from './config/time-zone.js';
import { platforms } from './providers/platforms.js';

/** Creates the home when it is missing. Throws `ConfigError`. */
export async function openAppConfig(env: Environment): Promise<{ app: AppConfig; loaded: LoadedConfig }> {
  const options = { env, keyVariables: platforms.flatMap((platform) => platform.keyVariables) };
  const loaded = openConfig(options);
  const { config, paths, token, environmentKeys } = loaded;
  const { version } = packageInfo();
  const settings = createSettings(loaded, options);
  const timeZone = localTimeZone(env);
  const channelSources = await loadChannelSources(config.channels);
  const app = {
    config,
    token,
    workspace: paths.workspace,
    version,
    timeZone,
    environmentKeys,
    settings,
    channelSources,
  };
  return { app, loaded };
}

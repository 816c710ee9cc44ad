/** The configuration as the doors see it: masked when it is shown, checked and merged when it is saved. */
import { UserError } from '../protocol/errors.js';
import type { SettingsService } from '../protocol/settings.js';
import type { LoadedConfig, LoadOptions } from './load.js';
import { maskSecrets } from './mask.js';
import { configSchema } from './schema.js';
import { saveConfig } from './write.js';

/** What is saved holds from the next start on; `getConfig` shows it at once. */
export function createSettings(loaded: LoadedConfig, options: LoadOptions): SettingsService {
  let { config } = loaded;
  return {
    getConfig: () => maskSecrets(config),
    getDefaultConfig: () => configSchema.parse({}),
    async saveConfig(data) {
      if (typeof data !== 'object' || data === null || Array.isArray(data)) {
        throw new UserError('invalid_config', 'Send the configuration as a JSON object.');
      }
      config = saveConfig(loaded.paths, data as Record<string, unknown>, options).config;
    },
  };
}

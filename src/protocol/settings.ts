/** Reading and changing the configuration through the doors. */
export interface SettingsService {
  /** The configuration file's content with defaults filled in, secrets masked. */
  getConfig(): unknown;
  getDefaultConfig(): unknown;
  /**
   * Checks and writes a whole configuration; a masked secret means "as it was". Throws `ConfigError`
   * with every problem and its path; then nothing was written.
   */
  saveConfig(data: unknown): Promise<void>;
}

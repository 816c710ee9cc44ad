/** A home in a folder of its own (with a space in its name), removed after each test. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { type HomePaths, resolveHome } from '../../src/config/home.js';
import { type LoadedConfig, loadConfig } from '../../src/config/load.js';

export interface TemporaryHome {
  folder: string;
  paths: HomePaths;
  env: Record<string, string>;
  write(config: unknown): void;
  read(): string;
  load(more?: Record<string, string>, keyVariables?: string[]): LoadedConfig;
}

export function useTemporaryHome(): TemporaryHome {
  const home = {} as TemporaryHome;
  beforeEach(() => {
    const folder = mkdtempSync(join(tmpdir(), 'picobot home '));
    const env = { HOME: folder, PICOBOT_HOME: join(folder, 'home') };
    mkdirSync(env.PICOBOT_HOME);
    Object.assign(home, {
      folder,
      env,
      paths: resolveHome(env),
      write: (config: unknown) =>
        writeFileSync(home.paths.configFile, typeof config === 'string' ? config : JSON.stringify(config, null, 2), {
          mode: 0o600,
        }),
      read: () => readFileSync(home.paths.configFile, 'utf8'),
      load: (more: Record<string, string> = {}, keyVariables: string[] = []) =>
        loadConfig({ env: { ...env, ...more }, keyVariables }),
    } satisfies Omit<TemporaryHome, never>);
  });
  afterEach(() => rmSync(home.folder, { recursive: true, force: true }));
  return home;
}

/** What `work` throws. */
export function thrownBy<T extends Error>(work: () => unknown): T {
  try {
    work();
  } catch (error) {
    return error as T;
  }
  throw new Error('nothing was thrown');
}

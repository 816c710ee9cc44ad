/** The time zone of this machine, asked of the system: the first use of `Intl` costs 20 ms, which no start should pay. */
import { existsSync, readlinkSync } from 'node:fs';
import type { Environment } from './environment.js';

export interface ZoneFiles {
  readLink(path: string): string;
  exists(path: string): boolean;
}

const systemFiles: ZoneFiles = { readLink: readlinkSync, exists: existsSync };
const areas = /^(Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)(\/[A-Za-z_-]+)+$/;

/** An IANA name such as Europe/Berlin. */
export function localTimeZone(env: Environment, files: ZoneFiles = systemFiles): string {
  const name = env.TZ ? env.TZ.replace(/^:/, '') : linkedZone(files);
  if (name === 'UTC' || name === 'Etc/UTC') return 'UTC';
  // A name that the system does not know may be one that `Intl` does not know either.
  if (areas.test(name) && files.exists(`/usr/share/zoneinfo/${name}`)) return name;
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function linkedZone(files: ZoneFiles): string {
  try {
    return files.readLink('/etc/localtime').split('/zoneinfo/')[1] ?? '';
  } catch {
    // A copied file, or a system that does it in another way.
    return '';
  }
}

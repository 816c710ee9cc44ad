import { expect, test } from 'vitest';
import { localTimeZone, type ZoneFiles } from '../../src/config/time-zone.js';

const ofIntl = Intl.DateTimeFormat().resolvedOptions().timeZone;
const noLink = () => {
  throw new Error('EINVAL');
};
const files = (link: string | undefined, exists = true): ZoneFiles => ({
  readLink: link === undefined ? noLink : () => link,
  exists: () => exists,
});

test.each<[Record<string, string>, ZoneFiles, string]>([
  [{ TZ: 'Asia/Shanghai' }, files('/usr/share/zoneinfo/Europe/Berlin'), 'Asia/Shanghai'],
  [{ TZ: ':America/Argentina/Buenos_Aires' }, files(undefined), 'America/Argentina/Buenos_Aires'],
  [{}, files('/usr/share/zoneinfo/Europe/Berlin'), 'Europe/Berlin'],
  [{}, files('../usr/share/zoneinfo/Etc/UTC', false), 'UTC'],
  [{ TZ: 'Europe/Nowhere' }, files('/usr/share/zoneinfo/Europe/Berlin', false), ofIntl],
  [{ TZ: 'CET-1CEST' }, files('/usr/share/zoneinfo/Europe/Berlin'), ofIntl],
  [{}, files('/somewhere/else'), ofIntl],
  [{}, files(undefined), ofIntl],
])('the zone of %j', (env, zoneFiles, expected) => {
  expect(localTimeZone(env, zoneFiles)).toBe(expected);
});

test('on this machine it is what Intl says', () => {
  expect(localTimeZone(process.env)).toBe(ofIntl);
});

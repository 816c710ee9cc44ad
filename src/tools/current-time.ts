/** `current_time`: the clock in any IANA time zone. */
import { z } from 'zod';
import { nearest } from '../config/suggest.js';
import { defineTool, ToolError } from './tool.js';
import { type ZonedTime, zonedTime } from './zoned-time.js';

/** `timeZone` is the default zone; it must exist. */
export function currentTimeTool(options: { timeZone: string; now: () => number }) {
  return defineTool({
    name: 'current_time',
    description: 'The current date, time, weekday and UTC offset.',
    input: z.strictObject({
      time_zone: z.string().optional().describe(`IANA name, e.g. Europe/Berlin; default ${options.timeZone}`),
    }),
    isReadOnly: true,
    async run({ time_zone: name }) {
      const { iso, weekday, timeZone } = timeIn(name?.trim() || options.timeZone, options.now());
      return `${iso} ${weekday}, ${timeZone}`;
    },
  });
}

function timeIn(name: string, atMs: number): ZonedTime {
  try {
    return zonedTime(atMs, name);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const near = nearZones(name);
    const hint = near.length > 0 ? `Did you mean ${near.join(', ')}?` : 'Use a name such as Asia/Shanghai or UTC.';
    throw new ToolError(`There is no time zone "${name.slice(0, 64)}". ${hint}`, { cause: error });
  }
}

/** Zones that the name may mean: mistyped as a whole, or a city alone (`shanghai`, `New York`). */
function nearZones(name: string): string[] {
  const zones = Intl.supportedValuesOf('timeZone');
  const city = cityOf(name.slice(0, 64).replaceAll(' ', '_'));
  const nearCity = nearest(city, zones.map(cityOf));
  const near = zones.filter((zone) => cityOf(zone) === nearCity);
  const nearZone = nearest(name.slice(0, 64), zones);
  return [...new Set(nearZone ? [nearZone, ...near] : near)].slice(0, 3);
}

function cityOf(zone: string): string {
  return zone.slice(zone.lastIndexOf('/') + 1);
}

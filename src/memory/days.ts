/** Calendar days in the user's time zone. */

const dayMs = 86_400_000;

/** The first instant of the day that holds `at`. */
export function startOfDay(at: number, timeZone: string): number {
  const wall = wallTime(at, timeZone);
  const midnight = Math.floor(wall / dayMs) * dayMs;
  // The offset may change during the day, so it is taken again at the result.
  const guess = midnight - (wall - at);
  return guess + (midnight - wallTime(guess, timeZone));
}

export function startOfNextDay(at: number, timeZone: string): number {
  return startOfDay(startOfDay(at, timeZone) + dayMs + dayMs / 2, timeZone);
}

/** Year, month (1–12), day and weekday (0 Sunday) of an instant. */
export function dateOf(at: number, timeZone: string): { year: number; month: number; day: number; weekday: number } {
  const wall = new Date(wallTime(at, timeZone));
  return {
    year: wall.getUTCFullYear(),
    month: wall.getUTCMonth() + 1,
    day: wall.getUTCDate(),
    weekday: wall.getUTCDay(),
  };
}

/** The first instant of a date; days and months out of range roll over, as in `Date.UTC`. */
export function instantOf(year: number, month: number, day: number, timeZone: string): number {
  const noon = Date.UTC(year, month - 1, day, 12);
  return startOfDay(noon - (wallTime(noon, timeZone) - noon), timeZone);
}

/** What the clock on the wall shows, as if it were UTC. */
function wallTime(at: number, timeZone: string): number {
  const parts = formatFor(timeZone).formatToParts(at);
  const field = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  const wholeSeconds = Date.UTC(
    field('year'),
    field('month') - 1,
    field('day'),
    field('hour'),
    field('minute'),
    field('second'),
  );
  return wholeSeconds + (((at % 1000) + 1000) % 1000);
}

/** Making a formatter costs half a millisecond, using one a fiftieth of that. */
const formats = new Map<string, Intl.DateTimeFormat>();
const maxFormats = 50;

function formatFor(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  if (formats.size >= maxFormats) formats.clear();
  formats.set(timeZone, format);
  return format;
}

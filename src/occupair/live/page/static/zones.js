// Local days. A room's day runs from its own midnight to the next, 23 or 25 hours when clocks change.

const HOUR = 3600000;
const formats = new Map();
const offsets = new Map();

function partsOf(zone, time) {
  if (!formats.has(zone)) {
    formats.set(zone, new Intl.DateTimeFormat("en-GB", {
      timeZone: zone || undefined, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit",
      hour: "2-digit", minute: "2-digit", second: "2-digit",
    }));
  }
  const parts = {};
  for (const { type, value } of formats.get(zone).formatToParts(time)) parts[type] = Number(value);
  return parts;
}

/** Milliseconds that the wall clock of `zone` is ahead of UTC at `time`. */
function offset(zone, time) {
  const quarter = Math.floor(time / (HOUR / 4)); // clocks change on quarter hours
  const key = `${zone}/${quarter}`;
  if (!offsets.has(key)) {
    if (offsets.size > 5000) offsets.clear();
    const at = quarter * (HOUR / 4);
    const { year, month, day, hour, minute, second } = partsOf(zone, at);
    offsets.set(key, Date.UTC(year, month - 1, day, hour, minute, second) - at);
  }
  return offsets.get(key);
}

/** The wall clock as if it were UTC [ms]: what a chart without zones can draw. */
export const wall = (zone, time) => time + offset(zone, time);

/** "2026-03-11" */
export const localDay = (zone, time) => new Date(wall(zone, time)).toISOString().slice(0, 10);

/** "14:32" */
export const clockText = (zone, time) => new Date(wall(zone, time)).toISOString().slice(11, 16);

export const addDays = (day, days) => new Date(Date.parse(day) + days * 24 * HOUR).toISOString().slice(0, 10);

/** When `day` starts in `zone` [ms, UTC]. */
export function dayStart(zone, day) {
  const midnight = Date.parse(day);
  const guess = midnight - offset(zone, midnight);
  return midnight - offset(zone, guess);
}

/** "Wednesday 11 March 2026" */
export function dayText(day, style = "long") {
  return new Intl.DateTimeFormat("en-GB", {
    timeZone: "UTC", weekday: style, day: "numeric", month: style, ...(style === "long" ? { year: "numeric" } : {}),
  }).format(Date.parse(day)).replace(",", "");
}

/** A zone the browser knows, or its own. */
export function knownZone(zone) {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone || undefined }).resolvedOptions().timeZone;
  } catch {
    return new Intl.DateTimeFormat("en").resolvedOptions().timeZone;
  }
}

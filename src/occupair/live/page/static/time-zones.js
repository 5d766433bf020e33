// Local days of a room: from midnight to midnight in its time zone, 23 or 25 hours when the clocks change.

import { locale } from "./i18n.js";

const HOUR = 3600000;
const formats = new Map();
const offsets = new Map();

function localParts(zone, time) {
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

/** Offset of the local time of `zone` from UTC at `time` [ms]. */
function utcOffset(zone, time) {
  const quarter = Math.floor(time / (HOUR / 4)); // clocks change on quarter hours
  const key = `${zone}/${quarter}`;
  if (!offsets.has(key)) {
    if (offsets.size > 5000) offsets.clear();
    const at = quarter * (HOUR / 4);
    const { year, month, day, hour, minute, second } = localParts(zone, at);
    offsets.set(key, Date.UTC(year, month - 1, day, hour, minute, second) - at);
  }
  return offsets.get(key);
}

/** Local time as if it were UTC [ms], for charts without time zones. */
export const toLocal = (zone, time) => time + utcOffset(zone, time);

/** "2026-03-11" */
export const localDay = (zone, time) => new Date(toLocal(zone, time)).toISOString().slice(0, 10);

/** "14:32" */
export const formatTime = (zone, time) => new Date(toLocal(zone, time)).toISOString().slice(11, 16);

export const addDays = (day, days) => new Date(Date.parse(day) + days * 24 * HOUR).toISOString().slice(0, 10);

/** When `day` starts in `zone` [ms, UTC]. */
export function dayStart(zone, day) {
  const midnight = Date.parse(day);
  const guess = midnight - utcOffset(zone, midnight);
  return midnight - utcOffset(zone, guess);
}

function formatDate(day, options) {
  return new Intl.DateTimeFormat(locale, { timeZone: "UTC", day: "numeric", ...options })
    .format(Date.parse(day)).replace(/^(\p{L}+),(?= \d+ )/u, "$1"); // en-GB without a comma after the weekday
}

/** "Wednesday 11 March 2026" */
export const formatDay = (day) => formatDate(day, { weekday: "long", month: "long", year: "numeric" });

/** "Wed 11 Mar"; with the year if it is not that of `today`. */
export function formatShortDay(day, today) {
  const isThisYear = day.slice(0, 4) === today.slice(0, 4);
  return formatDate(day, { weekday: "short", month: "short", year: isThisYear ? undefined : "numeric" });
}

const utcFormat = (day, options) => new Intl.DateTimeFormat(locale, { timeZone: "UTC", ...options }).format(Date.parse(day));

/** "Wed" */
export const formatWeekday = (day) => utcFormat(day, { weekday: "short" });

/** "11/03" */
export const formatNumericDay = (day) => utcFormat(day, { day: "numeric", month: "numeric" });

/** "Wednesday" */
export const formatLongWeekday = (day) => utcFormat(day, { weekday: "long" });

/** The time zone, or the browser's own if it does not know that zone. */
export function supportedZone(zone) {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone || undefined }).resolvedOptions().timeZone;
  } catch {
    return new Intl.DateTimeFormat("en").resolvedOptions().timeZone;
  }
}

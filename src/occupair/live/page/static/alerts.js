// Values that need attention: more people than seats, and high CO2. They are marked by an icon and words, not only
// by colour.

import { el, icon } from "./dom.js";
import { isOccupancyKnown } from "./format.js";
import { formatNumber, t } from "./i18n.js";

// CO2 from which indoor air is of moderate and of low quality [ppm]: classes IDA 3 and IDA 4 of EN 13779, 600 and
// 1000 ppm above outdoor air of 400 ppm.
const HIGH_CO2 = 1000;
const VERY_HIGH_CO2 = 1400;
const MEASURED = new Set(["ok", "starting", "untrained"]); // other readings are old or implausible

/** Number of people for whom there is no seat; 0 if the capacity or the occupancy is unknown. */
export const peopleWithoutSeat = ({ capacity, state }) => (
  capacity && isOccupancyKnown(state) ? Math.max(0, state.people - capacity) : 0);

/** Level of CO2: "high", "very-high", or "" if it is lower or not known. */
export function co2Level(state) {
  if (!state || !MEASURED.has(state.quality) || !(state.co2 >= HIGH_CO2)) return "";
  return state.co2 >= VERY_HIGH_CO2 ? "very-high" : "high";
}

/** "high" or "very high"; "" if CO2 is lower. */
export const co2Word = (state) => ({ high: t("co2.high"), "very-high": t("co2.veryHigh") }[co2Level(state)] ?? "");

/** All alerts of a room as sentences, each with its level. */
export function alertsOf(room) {
  const level = co2Level(room.state);
  const count = peopleWithoutSeat(room);
  const limit = formatNumber(level === "very-high" ? VERY_HIGH_CO2 : HIGH_CO2);
  return [
    count ? { level: "bad", text: t("alert.seats", { count, capacity: room.capacity }) } : null,
    isOccupancyKnown(room.state) && room.state.reason ? { level: "warn", text: room.state.reason } : null,
    level ? { level: level === "high" ? "warn" : "bad", text: t("alert.co2", { word: co2Word(room.state), limit }) } : null,
  ].filter(Boolean);
}

/** Show the alerts of a room in a list. */
export function showAlerts(list, room) {
  const alerts = alertsOf(room);
  const key = JSON.stringify(alerts);
  if (list.dataset.shown === key) return;
  list.dataset.shown = key;
  list.hidden = alerts.length === 0;
  list.replaceChildren(...alerts.map(({ level, text }) => el("li", { "data-level": level }, icon("suspect"), text)));
}

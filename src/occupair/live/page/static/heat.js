// Colours of occupancy: five steps of the capacity used, one for more people than seats, and hatching for unknown.

import { el } from "./dom.js";
import { formatNumber, t } from "./i18n.js";

const OVER = 5; // more people than seats
const LEAST_TOP = 4; // scale of rooms without a capacity [people]

/** Colour step of a number of people, from 0 (empty) to 4 (full) and OVER; null if unknown. */
export function heatLevel(people, capacity) {
  if (people === null || people === undefined) return null;
  if (people <= 0.5) return 0;
  if (Math.round(people) > capacity) return OVER;
  return Math.min(4, Math.max(1, Math.ceil((people / capacity) * 4)));
}

/** What a room's colours refer to [people]: its capacity, else the largest of some values. */
export function heatTop(room, values) {
  return room.capacity || Math.max(LEAST_TOP, ...values.map((value) => Math.ceil(value ?? 0)));
}

const percent = (value) => formatNumber(value, { style: "percent" });

/** Create the legend; without a capacity the steps refer to the largest value. */
export function createLegend({ hasCapacity = true } = {}) {
  const entry = (level, text) => el("li", {}, el("i", { class: "heat-key", "data-heat": level }), text);
  const steps = [[1, 0.25], [2, 0.5], [3, 0.75], [4, 1]];
  return el("div", { class: "legend" },
    el("p", { class: "legend-title" }, hasCapacity ? t("legend.capacity") : t("legend.peak")),
    el("ul", { class: "legend-keys" },
      entry("0", t("legend.empty")),
      ...steps.map(([level, share]) => entry(String(level), t("legend.upTo", { percent: percent(share) }))),
      hasCapacity ? entry(String(OVER), t("legend.over")) : null,
      entry("unknown", t("legend.unknown"))));
}

// The values of the hour under the pointer or the keyboard focus.

import { el, setText } from "./dom.js";
import { formatInterval, formatPercent } from "./format.js";
import { formatNumber, t } from "./i18n.js";

/** Create the readout; `show(cell)` takes a cell of the week table, or null. */
export function createWeekReadout() {
  const names = {
    hour: t("week.hour"), people: t("week.meanPeople"), peak: t("week.peak"), interval: t("week.interval"),
    inUse: t("week.inUse"), known: t("week.known"),
  };
  const values = {};
  const node = el("div", { class: "readout week-readout", "aria-hidden": "true" });
  for (const [name, text] of Object.entries(names)) {
    values[name] = el("span", { class: "read-value" });
    node.append(el("div", { class: `read read-${name}` }, el("span", { class: "read-name" }, text), values[name]));
  }

  function show(cell) {
    const hour = cell?.hour;
    const isKnown = Boolean(hour?.known);
    const number = (value) => (isKnown ? formatNumber(value, { maximumFractionDigits: 1 }) : "–");
    setText(values.hour, cell ? `${cell.dayName} ${cell.clock}` : "–");
    setText(values.people, number(hour?.people));
    setText(values.peak, isKnown ? formatNumber(Math.round(hour.peak)) : "–");
    setText(values.interval, isKnown ? formatInterval(hour.low, hour.high) || "–" : "–");
    setText(values.inUse, isKnown ? t("week.minutes", { minutes: Math.round(hour.in_use) }) : "–");
    setText(values.known, hour && !cell.isFuture ? formatPercent(hour.known) : "–");
  }
  show(null);
  return { node, show };
}

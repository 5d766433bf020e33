// Legend of the chart, with the value of every line at the cursor.

import { el, setText } from "./dom.js";
import { formatInterval, formatPercent, formatPpm } from "./format.js";
import { formatNumber, t } from "./i18n.js";

export function createReadout() {
  const names = {
    people: t("chart.people"), yesterday: t("chart.previousDay"), co2: t("chart.co2Smoothed"), raw: t("chart.co2Raw"),
    air: t("ventilation"), label: t("chart.headCounts"),
  };
  const time = el("span", { class: "read-time" });
  const values = {};
  const node = el("div", { class: "readout" },
    el("div", { class: "read" }, el("span", { class: "read-name" }, t("chart.time")), time));
  for (const [name, text] of Object.entries(names)) {
    const key = el("i", { class: `key key-${name}`, "aria-hidden": "true" });
    values[name] = el("span", { class: "read-value" });
    node.append(el("div", { class: `read read-${name}` }, el("span", { class: "read-name" }, key, text), values[name]));
  }

  const formatEstimate = (estimate) => (
    estimate && estimate.people !== null ? formatNumber(Math.round(estimate.people)) : "–");

  /** Show an estimate, that of the day before at the same time, and the number of head counts of the day. */
  function show(clock, estimate, previousDay, headCounts) {
    const interval = estimate && estimate.people !== null ? formatInterval(estimate.low, estimate.high) : "";
    setText(time, clock);
    setText(values.people, `${formatEstimate(estimate)}${interval && ` (${interval})`}`);
    setText(values.yesterday, formatEstimate(previousDay));
    setText(values.co2, formatPpm(estimate?.smoothed));
    setText(values.raw, formatPpm(estimate?.co2));
    setText(values.air, formatPercent(estimate?.ventilation));
    setText(values.label, headCounts ? formatNumber(headCounts) : "–");
  }

  /** Text of the values for screen readers. */
  function describe() {
    const people = values.people.textContent;
    const occupancy = people === "–" ? t("occupancy.unknown") : t("chart.peopleValue", { people });
    return `${time.textContent}, ${occupancy}, CO₂ ${values.co2.textContent} ppm`;
  }
  return { node, show, describe };
}

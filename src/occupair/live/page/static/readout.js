// The chart's legend, which is its read-out too: every line with its value at the cursor.

import { el, say } from "./dom.js";
import { percent, ppm, range } from "./words.js";

const NAMES = {
  people: "People", yesterday: "Day before", co2: "CO₂ smoothed", raw: "CO₂ raw",
  air: "Ventilation", label: "You said",
};

export function makeReadout() {
  const time = el("span", { class: "read-time" });
  const values = {};
  const node = el("div", { class: "readout" },
    el("div", { class: "read" }, el("span", { class: "read-name" }, "At"), time));
  for (const [name, word] of Object.entries(NAMES)) {
    const key = el("i", { class: `key key-${name}`, "aria-hidden": "true" });
    values[name] = el("span", { class: "read-value" });
    node.append(el("div", { class: `read read-${name}` }, el("span", { class: "read-name" }, key, word), values[name]));
  }

  /** Show the estimate of a time, that of the day before, and how many labels the day has. */
  function show(clock, row, before, labels) {
    const span = row ? range(row.low, row.high) : "";
    say(time, clock);
    say(values.people, row && row.people !== null ? `${Math.round(row.people)}${span && ` (${span})`}` : "–");
    say(values.yesterday, before && before.people !== null ? String(Math.round(before.people)) : "–");
    say(values.co2, ppm(row?.smoothed));
    say(values.raw, ppm(row?.co2));
    say(values.air, percent(row?.ventilation));
    say(values.label, labels ? `${labels} ${labels === 1 ? "time" : "times"}` : "–");
  }

  function spoken() {
    const count = values.people.textContent;
    const said = count === "–" ? "count unknown" : `${count} people`;
    return `${time.textContent}, ${said}, CO2 ${values.co2.textContent} ppm`;
  }
  return { node, show, spoken };
}

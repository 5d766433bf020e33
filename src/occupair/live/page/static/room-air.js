// What is known of a room without, or with few, head counts, and what would help most.

import { roomPath } from "./api.js";
import { el } from "./dom.js";
import { request } from "./http.js";
import { formatNumber, language, t } from "./i18n.js";

const oneDigit = (value) => formatNumber(value, { maximumSignificantDigits: 2 });

function describeProgress({ days, is_calibrated: isCalibrated }) {
  if (days === 0) return t("air.firstDay");
  return isCalibrated ? t("air.calibrated") : t("air.uncalibrated", { count: days });
}

function describeAdvice({ is_calibrated: isCalibrated, busy_hour: hour }) {
  if (isCalibrated) return t("air.adviceMore");
  if (hour === null) return t("air.adviceAnyTime");
  return t("air.advice", { from: hour, to: hour + 2 });
}

function nameRate(ventilation, rates) {
  if (rates.every((one) => one.ventilation !== null)) return t("air.atVentilation", { value: oneDigit(ventilation) });
  if (rates.length === 1) return t("air.changes");  // no ventilation signal, and the same at all times
  return ventilation === null ? t("air.byDay") : t("air.atNight");
}

function describeRate({ ventilation, rate, low, high }, _, rates) {
  const range = t("air.rate", { rate: oneDigit(rate), low: oneDigit(low), high: oneDigit(high) });
  return [nameRate(ventilation, rates), range];
}

/** Create the card, which is hidden unless the room is calibrated from its size and seats. */
export function createAirCard(id) {
  const node = el("section", { class: "card", id: "air-card", hidden: true });

  function show(air) {
    node.hidden = !air;
    if (!air) return;
    const rows = [
      ...air.rates.map(describeRate),
      [t("air.outdoorAir"), t("air.litres", { value: oneDigit(air.outdoor_air_per_person) })],
      [t("air.base"), t("air.ppm", { value: formatNumber(Math.round(air.base_level)) })],
    ];
    const doubts = language === "en" ? air.doubts : air.doubts.slice(0, 1).map(() => t("air.doubtful"));
    node.replaceChildren(
      el("h2", {}, air.is_calibrated ? t("air.title") : t("air.titleLearning")),
      el("p", { id: "air-progress" }, describeProgress(air)),
      el("p", { class: "air-advice", id: "air-advice" }, describeAdvice(air)),
      ...doubts.map((doubt) => el("p", { class: "error" }, t("air.doubt", { doubt }))),
      el("dl", { class: "air-facts" }, ...rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))));
  }

  async function load() {
    show(await request("GET", roomPath(id, "/air")));
  }

  return { node, load };
}

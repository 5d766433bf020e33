// The current state of a room, as a large card.

import { alertsOf, co2Level, peopleWithoutSeat, showAlerts } from "./alerts.js";
import { el, setIcon, setText } from "./dom.js";
import {
  TREND_ICONS, formatAge, formatInterval, formatOccupancy, formatPeople, formatPercent, formatPpm, formatReason,
  isOccupancyKnown, peopleUnit, qualityName, qualityText, trendOf, trendText,
} from "./format.js";
import { t } from "./i18n.js";
import * as rooms from "./room-store.js";

/** Create the card; call `update(room)` when the state changes. */
export function createStatusCard(room) {
  const part = (name, tag = "span") => el(tag, { class: `hero-${name}` });
  const [count, unit, arrow, badge, quality] = ["count", "unit", "trend", "badge", "word"].map((name) => part(name));
  const [detail, explanation, note] = [part("range", "p"), part("why", "p"), part("note", "p")];
  const [co2, ventilation, utilization, age] = [el("dd", { class: "fact-co2" }), el("dd"), el("dd", { class: "fact-seats" }), el("dd")];
  const alerts = el("ul", { class: "alerts" });
  const announcement = el("p", { class: "hidden", id: "room-announcement", "aria-live": "polite" });
  const fact = (name, value) => el("div", {}, el("dt", {}, name), value);
  const seats = room.capacity ? fact(t("status.ofSeats", { count: room.capacity }), utilization) : null;
  const node = el("section", { class: "hero card", "aria-label": t("status.title") },
    el("div", { class: "hero-number" }, count, el("div", {}, el("p", { class: "hero-line" }, unit, arrow), detail)),
    el("div", { class: "hero-quality" }, el("p", {}, badge, quality), explanation, note),
    el("dl", { class: "facts" }, fact("CO₂", co2), fact(t("ventilation"), ventilation), seats,
      fact(t("status.updated"), age)), alerts, announcement);

  function update(current) {
    const { name, state } = current;
    const isKnown = isOccupancyKnown(state);
    const interval = isKnown ? formatInterval(state.low, state.high) : "";
    const unbroken = interval.replace("–", "\u2060–\u2060"); // no line break at the dash
    const intervalText = interval && t("status.interval", { interval: unbroken });
    node.dataset.quality = state?.quality || "stale";
    node.dataset.in = isKnown ? (state.people > 0 ? "some" : "none") : "unknown";
    node.dataset.over = peopleWithoutSeat(current) > 0 ? "yes" : "";
    node.dataset.co2 = co2Level(state);
    setText(count, formatOccupancy(state));
    setText(unit, isKnown ? peopleUnit(state.people) : t("unknown"));
    setText(detail, isKnown ? intervalText : formatReason(state));
    setIcon(arrow, TREND_ICONS[trendOf(state)]);
    arrow.title = trendText(state);
    setIcon(badge, state?.quality || "stale");
    setText(quality, qualityName(state?.quality));
    const reason = isKnown ? state.reason : ""; // such as optional sensors that the estimate does without
    setText(explanation, reason ? `${reason[0].toUpperCase()}${reason.slice(1)}.` : qualityText(state?.quality));
    setText(co2, state && state.co2 !== null ? `${formatPpm(state.co2)} ppm` : "–");
    setText(ventilation, formatPercent(state?.ventilation));
    setText(utilization, isKnown && room.capacity ? formatPercent(state.people / room.capacity) : "–");
    setText(age, state?.time ? formatAge(rooms.now() - Date.parse(state.time)) : t("age.never"));
    const occupancy = isKnown ? formatPeople(state.people) : `${t("occupancy.unknown")}, ${formatReason(state)}`;
    setText(note, state?.note || "");
    showAlerts(alerts, current);
    setText(announcement, [`${name}: ${occupancy}`, ...alertsOf(current).map(({ text }) => text)].join(", "));
  }
  update(room);
  return { node, update };
}

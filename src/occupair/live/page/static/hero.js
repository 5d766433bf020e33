// What a room says now, large.

import { el, reicon, say } from "./dom.js";
import * as rooms from "./rooms.js";
import { QUALITY, ago, count, counted, people, percent, ppm, range, reason, trend } from "./words.js";

const TREND_ICON = { rising: "up", falling: "down" };

/** The card of the room as it is now; `show(room)` whenever that changes. */
export function heroCard(room) {
  const part = (name, tag = "span") => el(tag, { class: `hero-${name}` });
  const [number, unit, arrow, badge, word] = ["count", "unit", "trend", "badge", "word"].map((name) => part(name));
  const [span, why] = [part("range", "p"), part("why", "p")];
  const [co2, air, full, age] = [el("dd"), el("dd"), el("dd"), el("dd")];
  const said = el("p", { class: "hidden", id: "room-said", "aria-live": "polite" });
  const fact = (name, value) => el("div", {}, el("dt", {}, name), value);
  const seats = room.capacity ? fact(`Of ${room.capacity} seats`, full) : null;
  const node = el("section", { class: "hero card", "aria-label": "Now" },
    el("div", { class: "hero-number" }, number, el("div", {}, el("p", { class: "hero-line" }, unit, arrow), span)),
    el("div", { class: "hero-quality" }, el("p", {}, badge, word), why),
    el("dl", { class: "facts" }, fact("CO₂", co2), fact("Ventilation", air), seats, fact("Updated", age)), said);

  function show({ name, state }) {
    const isCounted = counted(state);
    const probable = isCounted && range(state.low, state.high);
    node.dataset.quality = state?.quality || "stale";
    node.dataset.in = isCounted ? (state.people > 0 ? "some" : "none") : "unknown";
    say(number, count(state));
    say(unit, isCounted ? (state.people === 1 ? "person" : "people") : "not known");
    say(span, isCounted ? (probable ? `probably ${probable.replace("–", " to ")}` : "") : reason(state));
    reicon(arrow, TREND_ICON[trend(state)] || "");
    arrow.title = trend(state);
    reicon(badge, state?.quality || "stale");
    say(word, state?.quality || "no reading");
    say(why, QUALITY[state?.quality] || "No reading has come from this room yet.");
    say(co2, state && state.co2 !== null ? `${ppm(state.co2)} ppm` : "–");
    say(air, percent(state?.ventilation));
    say(full, isCounted && room.capacity ? percent(state.people / room.capacity) : "–");
    say(age, state?.time ? ago(rooms.now() - Date.parse(state.time)) : "never");
    say(said, `${name}: ${isCounted ? people(state.people) : `count unknown, ${reason(state)}`}`);
  }
  show(room);
  return { node, show };
}

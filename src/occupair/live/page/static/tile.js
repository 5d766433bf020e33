// One room in the list. A tile is made once and then only told what changed.

import { el, reicon, say } from "./dom.js";
import { ago, count, counted, people, ppm, range, reason, trend } from "./words.js";

const TREND_ICON = { rising: "up", falling: "down", steady: "", "": "" };

const PARTS = ["name", "floor", "why", "count", "unit", "trend", "range", "full", "fill", "badge", "word", "quality",
  "co2", "ago"];

/** A tile without a room yet: the element, and its parts by name. */
export function makeTile() {
  const parts = Object.fromEntries(PARTS.map((name) => [name, el("span", { class: `tile-${name}` })]));
  parts.quality.append(parts.badge, parts.word);
  const line = el("span", { class: "tile-line" }, parts.unit, parts.trend);
  const stack = el("span", { class: "tile-stack" }, line, parts.range);
  parts.link = el("a", { class: "tile-link", tabindex: "-1" },
    el("span", { class: "tile-head" }, parts.name, parts.floor, parts.why),
    el("span", { class: "tile-main" }, parts.count, stack, parts.full),
    el("span", { class: "tile-foot" }, parts.quality, parts.co2, parts.ago), parts.fill);
  return { node: el("li", { class: "tile" }, parts.link), parts, room: null, said: "" };
}

/** What a screen reader says of a room. */
function spoken({ name, floor, state }) {
  const how = counted(state)
    ? [people(state.people), range(state.low, state.high) && `range ${range(state.low, state.high)}`, trend(state)]
    : ["count unknown", reason(state)];
  const air = state && state.co2 !== null ? `CO2 ${ppm(state.co2)} ppm` : "";
  return [name, floor, ...how, state ? `quality ${state.quality}` : "", air].filter(Boolean).join(", ");
}

/** Show a room in a tile: every text only where it differs. */
export function showTile(tile, room, now) {
  const { node, parts } = tile;
  const { state } = room;
  const isCounted = counted(state);
  if (tile.room !== room.room) {
    tile.room = room.room;
    tile.said = "";
    node.dataset.room = room.room;
    parts.link.setAttribute("href", `#/room/${encodeURIComponent(room.room)}`);
    node.classList.remove("changed");
  } else if (tile.said !== count(state)) {
    node.classList.remove("changed");
    void node.offsetWidth; // starts the animation again
    node.classList.add("changed");
  }
  tile.said = count(state);
  node.dataset.quality = state?.quality || "stale";
  node.dataset.in = isCounted ? (state.people > 0 ? "some" : "none") : "unknown";
  say(parts.name, room.name);
  say(parts.floor, room.floor);
  say(parts.count, count(state));
  say(parts.unit, isCounted ? (state.people === 1 ? "person" : "people") : "not known");
  reicon(parts.trend, TREND_ICON[trend(state)]);
  parts.trend.title = trend(state);
  say(parts.range, isCounted ? range(state.low, state.high) : reason(state));
  say(parts.why, isCounted ? "" : reason(state));
  reicon(parts.badge, state?.quality || "stale");
  say(parts.word, state?.quality || "no reading");
  say(parts.co2, state && state.co2 !== null ? `${ppm(state.co2)} ppm` : "– ppm");
  showFill(parts, room);
  showAge(tile, room, now);
  const label = spoken(room);
  if (parts.link.getAttribute("aria-label") !== label) parts.link.setAttribute("aria-label", label);
}

export function showAge(tile, { state }, now) {
  say(tile.parts.ago, state?.time ? ago(now - Date.parse(state.time)) : "never");
}

/** How full the room is, where its size is known. */
function showFill({ full, fill }, { capacity, state }) {
  const isKnown = Boolean(capacity) && counted(state) && state.people > 0;
  fill.hidden = !isKnown;
  say(full, isKnown ? `${Math.round((100 * state.people) / capacity)} % full` : "");
  if (isKnown) fill.style.setProperty("--full", Math.min(1, state.people / capacity).toFixed(3));
}

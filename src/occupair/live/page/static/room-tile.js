// One room in the list. A tile is created once and then updated where its texts differ.

import { alertsOf, co2Level, co2Word, peopleWithoutSeat } from "./alerts.js";
import { el, icon, setIcon, setText } from "./dom.js";
import {
  TREND_ICONS, formatAge, formatInterval, formatOccupancy, formatPeople, formatPercent, formatPpm, formatReason,
  isOccupancyKnown, peopleUnit, qualityName, trendOf, trendText,
} from "./format.js";
import { t } from "./i18n.js";
import { createSparkline, updateSparkline } from "./sparkline.js";
import { valuesOf } from "./today-data.js";

const PARTS = ["name", "floor", "why", "count", "unit", "trend", "range", "full", "fill", "badge", "word", "quality",
  "co2", "ppm", "level", "ago"];

/** Create a tile without a room: its element, and its parts by name. */
function createTile() {
  const parts = Object.fromEntries(PARTS.map((name) => [name, el("span", { class: `tile-${name}` })]));
  parts.quality.append(parts.badge, parts.word);
  parts.level.append(icon("suspect"), el("span"));
  parts.co2.append(parts.ppm, parts.level);
  parts.spark = createSparkline();
  const line = el("span", { class: "tile-line" }, parts.unit, parts.trend);
  const stack = el("span", { class: "tile-stack" }, line, parts.range);
  parts.link = el("a", { class: "tile-link", tabindex: "-1" },
    el("span", { class: "tile-head" }, parts.name, parts.floor, parts.why),
    el("span", { class: "tile-main" }, parts.count, stack, el("span", { class: "tile-side" }, parts.spark, parts.full)),
    el("span", { class: "tile-foot" }, parts.quality, parts.co2, parts.ago), parts.fill);
  return { node: el("li", { class: "tile" }, parts.link), parts, room: null, shownCount: "" };
}

/** Description of a room for screen readers. */
function describe(room) {
  const { name, floor, state } = room;
  const interval = state ? formatInterval(state.low, state.high) : "";
  const occupancy = isOccupancyKnown(state)
    ? [formatPeople(state.people), interval && t("tile.interval", { interval }), trendText(state)]
    : [t("occupancy.unknown"), formatReason(state)];
  const quality = state ? t("tile.quality", { quality: qualityName(state.quality) }) : "";
  const co2 = state && state.co2 !== null ? `CO₂ ${formatPpm(state.co2)} ppm` : "";
  const alerts = alertsOf(room).map(({ text }) => text);
  return [name, floor, ...occupancy, quality, co2, ...alerts].filter(Boolean).join(", ");
}

/** Show a room in a tile. */
function updateTile(tile, room, now) {
  const { node, parts } = tile;
  const { state } = room;
  const isKnown = isOccupancyKnown(state);
  const count = formatOccupancy(state);
  if (tile.room !== room.room) {
    tile.room = room.room;
    node.dataset.room = room.room;
    parts.link.setAttribute("href", `#/room/${encodeURIComponent(room.room)}`);
    node.classList.remove("changed");
  } else if (tile.shownCount !== count) {
    node.classList.remove("changed");
    void node.offsetWidth; // restarts the animation
    node.classList.add("changed");
  }
  tile.shownCount = count;
  node.dataset.quality = state?.quality || "stale";
  node.dataset.in = isKnown ? (state.people > 0 ? "some" : "none") : "unknown";
  setText(parts.name, room.name);
  setText(parts.floor, room.floor);
  setText(parts.count, count);
  setText(parts.unit, isKnown ? peopleUnit(state.people) : t("unknown"));
  setIcon(parts.trend, TREND_ICONS[trendOf(state)]);
  parts.trend.title = trendText(state);
  setText(parts.range, isKnown ? formatInterval(state.low, state.high) : formatReason(state));
  setText(parts.why, isKnown ? "" : formatReason(state));
  setIcon(parts.badge, state?.quality || "stale");
  setText(parts.word, qualityName(state?.quality));
  setText(parts.ppm, `${formatPpm(state?.co2)} ppm`);
  parts.level.hidden = !co2Level(state);
  setText(parts.level.lastChild, co2Word(state));
  node.dataset.co2 = co2Level(state);
  updateUtilization(tile, room);
  updateSparkline(parts.spark, valuesOf(room.room));
  updateAge(tile, room, now);
  const label = describe(room);
  if (parts.link.getAttribute("aria-label") !== label) parts.link.setAttribute("aria-label", label);
}

function updateAge(tile, { state }, now) {
  setText(tile.parts.ago, state?.time ? formatAge(now - Date.parse(state.time)) : t("age.never"));
}

/** Show the utilization of the room, if its capacity is known, or how many people have no seat. */
function updateUtilization({ node, parts: { full, fill } }, room) {
  const { capacity, state } = room;
  const isKnown = Boolean(capacity) && isOccupancyKnown(state) && state.people > 0;
  const count = peopleWithoutSeat(room);
  const utilization = isKnown ? t("tile.utilization", { percent: formatPercent(state.people / capacity) }) : "";
  node.dataset.over = count > 0 ? "yes" : "";
  fill.hidden = !isKnown;
  setText(full, count ? t("tile.withoutSeat", { count }) : utilization);
  if (isKnown) fill.style.setProperty("--full", Math.min(1, state.people / capacity).toFixed(3));
}

/** Columns and sizes of tiles; narrow pages have one column of flat tiles. */
function tileLayout(width, rem, isNarrow) {
  const gap = (isNarrow ? 0.5 : 0.875) * rem;
  const columns = isNarrow ? 1 : Math.max(1, Math.floor((width + gap) / (15.5 * rem + gap)));
  const tileWidth = Math.floor((width - gap * (columns - 1)) / columns);
  return { columns, gap, width: tileWidth, height: (isNarrow ? 5.625 : 9.5) * rem };
}

export const TILES = { name: "tiles", create: createTile, update: updateTile, updateAge, layout: tileLayout };

// One room in the view of today: a strip with a colour for each half hour, and a cursor that all strips share.

import { byId, el, setText } from "./dom.js";
import { formatOccupancy, formatPercent } from "./format.js";
import { heatLevel, heatTop } from "./heat.js";
import { formatNumber, t } from "./i18n.js";
import * as rooms from "./room-store.js";
import { formatTime } from "./time-zones.js";
import { dayOf } from "./today-data.js";

let cursor = null; // the slot of the cursor; null if there is none
let cursorRoom = null; // id of the room that the values at the cursor are of

function createStrip() {
  const part = (name) => el("span", { class: `strip-${name}` });
  const parts = { name: part("name"), floor: part("floor"), heat: part("heat"), now: part("now") };
  parts.link = el("a", { class: "strip-link", tabindex: "-1" }, parts.name, parts.floor, parts.heat, parts.now);
  const node = el("li", { class: "strip" }, parts.link);
  node.addEventListener("pointermove", (event) => onPointer(node.dataset.room, parts.heat, event));
  node.addEventListener("pointerleave", () => setCursor(null, null));
  parts.link.addEventListener("focus", () => { if (cursor !== null) setCursor(node.dataset.room, cursor); });
  return { node, parts, room: null };
}

function onPointer(id, heat, event) {
  const day = dayOf(id);
  const box = heat.getBoundingClientRect();
  const share = (event.clientX - box.left) / box.width;
  if (day) setCursor(id, share < 0 || share > 1 ? null : Math.min(day.slots - 1, Math.floor(share * day.slots)));
}

const colour = (level) => (level === null ? "transparent" : `var(--heat-${level})`);

/** Number of complete slots of a day so far. */
const slotsSoFar = (day) => Math.min(day.slots, Math.floor((rooms.now() - day.start) / (day.minutes * 60000)));

/** Background of a strip: runs of the same colour; unknown half hours are transparent, later ones plain. */
function background(day, top) {
  const { slots } = day;
  const values = [...day.values];
  while (values.length < slotsSoFar(day)) values.push(null);
  const stops = [];
  let last = null;
  values.forEach((value, i) => {
    const step = colour(heatLevel(value, top));
    if (step === last) stops.pop();
    else stops.push(`${step} ${((100 * i) / slots).toFixed(3)}%`);
    stops.push(`${step} ${((100 * (i + 1)) / slots).toFixed(3)}%`);
    last = step;
  });
  const end = `${((100 * values.length) / slots).toFixed(3)}%`;
  return `linear-gradient(to right, ${[...stops, `var(--bg) ${end}`, "var(--bg) 100%"].join(", ")}), var(--hatch)`;
}

const known = (values) => values.filter((value) => value !== null);

/** Description of a room's day for screen readers. */
function describe(room, day) {
  const values = known(day?.values ?? []);
  if (!values.length) return [room.name, room.floor, t("today.noValues")].filter(Boolean).join(", ");
  const peak = Math.max(...values);
  const at = formatTime(day.timezone, day.start + day.values.indexOf(peak) * day.minutes * 60000);
  const hours = (values.filter((value) => value > 0.5).length * day.minutes) / 60;
  return [room.name, room.floor, t("today.peak", { people: formatNumber(Math.round(peak)), time: at }),
    t("today.inUse", { hours: formatNumber(hours) })].filter(Boolean).join(", ");
}

function updateStrip(strip, room) {
  const { node, parts } = strip;
  const day = dayOf(room.room);
  if (strip.room !== room.room) {
    node.dataset.room = room.room;
    parts.link.setAttribute("href", `#/room/${encodeURIComponent(room.room)}`);
  }
  setText(parts.name, room.name);
  setText(parts.floor, room.floor);
  setText(parts.now, formatOccupancy(room.state));
  if (strip.room === room.room && strip.day === day) return;
  strip.room = room.room;
  strip.day = day;
  parts.heat.style.background = day ? background(day, heatTop(room, day.values)) : "none";
  parts.link.setAttribute("aria-label", describe(room, day));
}

/** Show the values of a room at a slot, and a line there in all strips; null hides both. */
function setCursor(id, slot) {
  cursor = slot;
  cursorRoom = id;
  const grid = byId("grid");
  const day = id === null ? null : dayOf(id);
  const isShown = slot !== null && Boolean(day);
  grid.classList.toggle("has-cursor", isShown);
  if (isShown) grid.style.setProperty("--cursor", ((slot + 0.5) / day.slots).toFixed(4));
  setText(byId("today-readout"), isShown ? describeSlot(rooms.room(id), day, slot) : t("today.hint"));
}

function describeSlot(room, day, slot) {
  const at = (i) => formatTime(day.timezone, day.start + i * day.minutes * 60000);
  const value = day.values[slot];
  const isFuture = slot >= day.values.length && day.start + slot * day.minutes * 60000 > rooms.now();
  const people = value === null || value === undefined
    ? (isFuture ? t("week.future") : t("occupancy.unknown"))
    : t("today.mean", { people: formatNumber(value, { maximumFractionDigits: 1 }) });
  const used = room.capacity && value ? t("tile.utilization", { percent: formatPercent(value / room.capacity) }) : "";
  return [room.name, `${at(slot)}–${at(slot + 1)}`, people, used].filter(Boolean).join(" · ");
}

/** Move the cursor with the left and right keys; returns whether the key was handled. */
function handleKey(key, room) {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  const day = step && room ? dayOf(room.room) : null;
  if (!day) return false;
  const from = cursor ?? Math.max(0, day.values.length - 1) - (step > 0 ? 1 : -1);
  setCursor(room.room, Math.min(day.slots - 1, Math.max(0, from + step)));
  return true;
}

/** Show the hours above the strips, for the time zone of the first room. */
export function showAxis(id) {
  const day = id === undefined ? null : dayOf(id);
  const axis = byId("today-axis");
  axis.replaceChildren(...(day ? ticks(day) : []));
  if (cursorRoom !== null && rooms.room(cursorRoom)) setCursor(cursorRoom, cursor);
  else setCursor(null, null);
}

function ticks(day) {
  const found = [];
  for (let slot = 0; slot < day.slots; slot += 1) {
    const [hour, minute] = formatTime(day.timezone, day.start + slot * day.minutes * 60000).split(":");
    if (minute === "00" && Number(hour) % 3 === 0) {
      const mark = el("span", { class: Number(hour) % 6 ? "tick minor" : "tick" }, hour);
      mark.style.left = `${((100 * slot) / day.slots).toFixed(3)}%`;
      found.push(mark);
    }
  }
  return found;
}

function stripLayout(width, rem, isNarrow) {
  return { columns: 1, gap: (isNarrow ? 0.25 : 0.1875) * rem, width, height: (isNarrow ? 3.75 : 2.75) * rem };
}

export const STRIPS = { name: "strips", create: createStrip, update: updateStrip, layout: stripLayout, handleKey };

// All rooms at a glance. Only the tiles that can be seen are in the page, so thousands of rooms stay smooth.

import { byId, say } from "./dom.js";
import * as rooms from "./rooms.js";
import { makeTile, showAge, showTile } from "./tile.js";
import { counted } from "./words.js";

const RESORT = 2000; // live changes re-order the list at most this often [ms]: tiles do not dance
const OVERSCAN = 400; // drawn above and below what is seen [px]

const NO_ROOMS = "There are no rooms yet. Add one to the service's TOML file.";

const grid = byId("grid");
const tiles = new Map(); // room id -> tile in the page
const spare = []; // tiles to use again
let order = []; // room ids, filtered and sorted
let place = new Map(); // room id -> its index in `order`
let active = null; // the room that the keyboard is at
let shape = { columns: 1, width: 0, height: 1, gap: 0 };
let orderedAt = 0;
let orderTimer = 0;
let drawn = 0;
let shown = false;

const FILTERS = {
  all: () => true,
  occupied: (state) => counted(state) && state.people > 0,
  empty: (state) => counted(state) && state.people === 0,
  unknown: (state) => !counted(state),
};
const filterOf = (name) => FILTERS[name] || ((state) => state?.quality === name);

const byName = new Intl.Collator("en", { numeric: true, sensitivity: "base" }).compare;
/** Basements are below the ground floor, and that below the first. */
const storey = (floor) => (/^(basement|-)/i.test(floor) ? -2 : /^ground/i.test(floor) ? -1 : 0);
const most = (value) => (a, b) => (value(b.state) ?? -1) - (value(a.state) ?? -1) || a.rank - b.rank;
const SORTS = {
  name: (a, b) => a.rank - b.rank,
  floor: (a, b) => storey(a.floor) - storey(b.floor) || byName(a.floor, b.floor) || a.rank - b.rank,
  people: most((state) => state?.people),
  co2: most((state) => state?.co2),
};

let ranked = -1;
/** Names are compared once, not at every sort. */
function rank() {
  if (ranked === rooms.size() && [...rooms.all()].every((room) => room.rank !== undefined)) return;
  const sorted = [...rooms.all()].sort((a, b) => byName(a.name, b.name) || byName(a.room, b.room));
  sorted.forEach((room, i) => { room.rank = i; });
  ranked = rooms.size();
}

function reorder() {
  clearTimeout(orderTimer);
  orderTimer = 0;
  orderedAt = performance.now();
  rank();
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = filterOf(byId("filter").value);
  const found = [...rooms.all()].filter((room) => fits(room.state) && words.every((word) => room.text.includes(word)));
  order = found.sort(SORTS[byId("sort").value] || SORTS.name).map((room) => room.room);
  place = new Map(order.map((id, i) => [id, i]));
  if (!place.has(active)) active = order[0] ?? null;
  sayFound();
  later();
}

function sayFound() {
  const whole = rooms.size();
  const every = `${whole} ${whole === 1 ? "room" : "rooms"}`;
  say(byId("found"), order.length === whole ? every : `${order.length} of ${every}`);
  byId("nothing").hidden = order.length > 0;
  byId("nothing-clear").hidden = whole === 0;
  say(byId("nothing-text"), whole ? "No room is like that at the moment." : NO_ROOMS);
}

/** Columns and sizes from the width there is; heights are in rem so that larger text has room. */
function measure() {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const width = grid.clientWidth;
  const narrow = width < 35 * rem;
  const gap = (narrow ? 0.5 : 0.875) * rem;
  const columns = narrow ? 1 : Math.max(1, Math.floor((width + gap) / (15.5 * rem + gap)));
  grid.classList.toggle("rows", narrow);
  const tileWidth = Math.floor((width - gap * (columns - 1)) / columns);
  shape = { columns, gap, width: tileWidth, height: (narrow ? 5.625 : 9.5) * rem };
}

function later() {
  if (!drawn && shown) drawn = requestAnimationFrame(draw);
}

function visible() {
  const step = shape.height + shape.gap;
  const top = -grid.getBoundingClientRect().top;
  const first = Math.max(0, Math.floor((top - OVERSCAN) / step));
  const last = Math.ceil((top + window.innerHeight + OVERSCAN) / step);
  const ids = order.slice(first * shape.columns, last * shape.columns);
  const held = tiles.get(active)?.node.contains(document.activeElement);
  if (held && place.has(active) && !ids.includes(active)) ids.push(active); // focus is never lost by scrolling
  return ids;
}

function draw() {
  drawn = 0;
  if (!shown) return;
  const rows = Math.ceil(order.length / shape.columns);
  grid.style.height = `${Math.max(0, rows * (shape.height + shape.gap) - shape.gap)}px`;
  const ids = visible();
  const wanted = new Set(ids);
  const hadFocus = grid.contains(document.activeElement);
  for (const [id, tile] of tiles) if (!wanted.has(id)) { tiles.delete(id); spare.push(tile); }
  const now = rooms.now();
  for (const id of ids) {
    if (!tiles.has(id)) tiles.set(id, spare.pop() || makeTile());
    put(tiles.get(id), id, now);
  }
  inOrder(ids.map((id) => tiles.get(id).node));
  if (hadFocus && !grid.contains(document.activeElement)) tiles.get(active)?.parts.link.focus({ preventScroll: true });
}

function put(tile, id, now) {
  const at = place.get(id);
  showTile(tile, rooms.room(id), now);
  const x = (at % shape.columns) * (shape.width + shape.gap);
  const y = Math.floor(at / shape.columns) * (shape.height + shape.gap);
  const style = `transform:translate(${x}px,${y}px);width:${shape.width}px;height:${shape.height}px`;
  if (tile.style !== style) { tile.node.style.cssText = style; tile.style = style; }
  tile.node.setAttribute("aria-posinset", at + 1);
  tile.node.setAttribute("aria-setsize", order.length);
  tile.parts.link.tabIndex = id === active ? 0 : -1;
}

/** The page's order is the reading order; what is not wanted any more leaves the page. */
function inOrder(nodes) {
  let cursor = grid.firstChild;
  for (const node of nodes) {
    if (node === cursor) cursor = cursor.nextSibling;
    else grid.insertBefore(node, cursor);
  }
  while (cursor) { const next = cursor.nextSibling; cursor.remove(); cursor = next; }
  spare.length = Math.min(spare.length, 100);
}

function changed(ids) {
  const isLive = ["people", "co2"].includes(byId("sort").value) || byId("filter").value !== "all";
  const wait = Math.max(0, orderedAt + RESORT - performance.now());
  if (rooms.size() !== ranked || !orderedAt) reorder();
  else if (isLive && !orderTimer) orderTimer = setTimeout(reorder, wait);
  if (!shown) return;
  const now = rooms.now();
  for (const id of ids) if (tiles.has(id) && rooms.room(id)) showTile(tiles.get(id), rooms.room(id), now);
}

/** Bring a room into view and put the keyboard there. */
export function goTo(id) {
  if (!place.has(id)) return;
  active = id;
  const step = shape.height + shape.gap;
  const top = grid.getBoundingClientRect().top + Math.floor(place.get(id) / shape.columns) * step;
  const tools = byId("tools");
  const isStuck = getComputedStyle(tools).position === "sticky";
  const bar = document.querySelector(".bar").offsetHeight + (isStuck ? tools.offsetHeight : 0) + 12;
  if (top < bar) window.scrollBy(0, top - bar);
  const below = top + shape.height + 12 - window.innerHeight;
  if (top >= bar && below > 0) window.scrollBy(0, below);
  cancelAnimationFrame(drawn);
  draw();
  tiles.get(id)?.parts.link.focus({ preventScroll: true });
}

const STEPS = {
  ArrowRight: () => 1, ArrowLeft: () => -1, ArrowDown: () => shape.columns, ArrowUp: () => -shape.columns,
  PageDown: () => shape.columns * Math.max(1, Math.floor(window.innerHeight / (shape.height + shape.gap)) - 1),
  PageUp: () => -STEPS.PageDown(), Home: () => -order.length, End: () => order.length,
};

/** Move through the rooms; returns whether the key was one of ours. */
export function moveBy(key) {
  if (!STEPS[key] || !order.length) return false;
  const from = place.get(active) ?? 0;
  const inGrid = grid.contains(document.activeElement);
  const isLastRow = Math.floor(from / shape.columns) === Math.floor((order.length - 1) / shape.columns);
  const isStuck = key === "ArrowDown" && isLastRow;
  const to = inGrid && !isStuck ? Math.min(order.length - 1, Math.max(0, from + STEPS[key]())) : from;
  if (inGrid && key === "ArrowUp" && from < shape.columns) byId("search").focus();
  else goTo(order[to]);
  return true;
}

export function show(id = null) {
  shown = true;
  measure();
  reorder();
  draw();
  if (id) goTo(id);
}

export const hide = () => { shown = false; };

const SETTINGS = ["search", "filter", "sort"];

/** Make the list work: once, at the start. */
export function start() {
  rooms.onChange(changed);
  byId("tools").addEventListener("submit", (event) => { event.preventDefault(); if (order.length) goTo(order[0]); });
  for (const id of SETTINGS) byId(id).addEventListener("input", reorder);
  byId("search").addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && order.length) { event.preventDefault(); goTo(order[0]); }
  });
  byId("nothing-clear").addEventListener("click", () => {
    byId("search").value = "";
    byId("filter").value = "all";
    reorder();
    byId("search").focus();
  });
  grid.addEventListener("focusin", (event) => {
    const id = event.target.closest(".tile")?.dataset.room;
    if (!id || id === active) return;
    const before = tiles.get(active);
    if (before) before.parts.link.tabIndex = -1;
    active = id;
    tiles.get(id).parts.link.tabIndex = 0;
  });
  window.addEventListener("scroll", later, { passive: true });
  new ResizeObserver(() => { if (shown && grid.clientWidth) { measure(); later(); } }).observe(byId("rooms-view"));
  setInterval(() => {
    for (const [id, tile] of tiles) if (rooms.room(id)) showAge(tile, rooms.room(id), rooms.now());
  }, 10000);
}

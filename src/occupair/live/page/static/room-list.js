// The list of all rooms. Only visible tiles are in the document, so thousands of rooms scroll smoothly.

import { byId, setText } from "./dom.js";
import { isOccupancyKnown } from "./format.js";
import { locale, t } from "./i18n.js";
import * as rooms from "./room-store.js";
import { createTile, updateAge, updateTile } from "./room-tile.js";

const SORT_INTERVAL = 2000; // live changes reorder the list at most this often, so tiles do not jump around [ms]
const OVERSCAN = 400; // drawn above and below the visible area [px]
const AGE_INTERVAL = 10000; // [ms]

const grid = byId("grid");
const tiles = new Map(); // room id -> tile in the document
const unusedTiles = []; // to be reused
let order = []; // room ids, filtered and sorted
let indexOf = new Map(); // room id -> its index in `order`
let active = null; // the room with the keyboard focus
let layout = { columns: 1, width: 0, height: 1, gap: 0 };
let sortedAt = 0;
let sortTimer = 0;
let frame = 0; // the requested animation frame
let isShown = false;

const FILTERS = {
  all: () => true,
  occupied: (state) => isOccupancyKnown(state) && state.people > 0,
  empty: (state) => isOccupancyKnown(state) && state.people === 0,
  unknown: (state) => !isOccupancyKnown(state),
};
const filterFor = (name) => FILTERS[name] || ((state) => state?.quality === name);

const compareNames = new Intl.Collator(locale, { numeric: true, sensitivity: "base" }).compare;
/** Basements come before the ground floor, and that before the others. */
const floorLevel = (floor) => {
  if (/^(basement|untergeschoss|keller|ug\b|-)/i.test(floor)) return -2;
  return /^(ground|erdgeschoss|eg\b)/i.test(floor) ? -1 : 0;
};
const descending = (value) => (a, b) => (value(b.state) ?? -1) - (value(a.state) ?? -1) || a.rank - b.rank;
const SORTS = {
  name: (a, b) => a.rank - b.rank,
  floor: (a, b) => floorLevel(a.floor) - floorLevel(b.floor) || compareNames(a.floor, b.floor) || a.rank - b.rank,
  people: descending((state) => state?.people),
  co2: descending((state) => state?.co2),
};

let rankedRooms = -1; // number of rooms that were ranked
/** Rank the rooms by name once, not at every sort. */
function rankByName() {
  if (rankedRooms === rooms.size() && [...rooms.all()].every((room) => room.rank !== undefined)) return;
  const sorted = [...rooms.all()].sort((a, b) => compareNames(a.name, b.name) || compareNames(a.room, b.room));
  sorted.forEach((room, i) => { room.rank = i; });
  rankedRooms = rooms.size();
}

function sort() {
  clearTimeout(sortTimer);
  sortTimer = 0;
  sortedAt = performance.now();
  rankByName();
  const terms = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = filterFor(byId("filter").value);
  const found = [...rooms.all()].filter((room) => matches(room.state) && terms.every((term) => room.searchText.includes(term)));
  order = found.sort(SORTS[byId("sort").value] || SORTS.name).map((room) => room.room);
  indexOf = new Map(order.map((id, i) => [id, i]));
  if (!indexOf.has(active)) active = order[0] ?? null;
  showCount();
  scheduleDraw();
}

function showCount() {
  const total = rooms.size();
  const isAll = order.length === total;
  setText(byId("found"), isAll ? t("list.rooms", { count: total }) : t("list.found", { found: order.length, count: total }));
  byId("no-rooms").hidden = order.length > 0;
  byId("no-rooms-reset").hidden = total === 0;
  setText(byId("no-rooms-text"), total ? t("list.noMatch") : t("list.noRooms"));
}

/** Compute columns and tile sizes from the width; heights are in rem and grow with the text size. */
function measure() {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const width = grid.clientWidth;
  const isNarrow = width < 35 * rem;
  const gap = (isNarrow ? 0.5 : 0.875) * rem;
  const columns = isNarrow ? 1 : Math.max(1, Math.floor((width + gap) / (15.5 * rem + gap)));
  grid.classList.toggle("rows", isNarrow);
  const tileWidth = Math.floor((width - gap * (columns - 1)) / columns);
  layout = { columns, gap, width: tileWidth, height: (isNarrow ? 5.625 : 9.5) * rem };
}

function scheduleDraw() {
  if (!frame && isShown) frame = requestAnimationFrame(draw);
}

function visibleIds() {
  const step = layout.height + layout.gap;
  const top = -grid.getBoundingClientRect().top;
  const first = Math.max(0, Math.floor((top - OVERSCAN) / step));
  const last = Math.ceil((top + window.innerHeight + OVERSCAN) / step);
  const ids = order.slice(first * layout.columns, last * layout.columns);
  const hasFocus = tiles.get(active)?.node.contains(document.activeElement);
  if (hasFocus && indexOf.has(active) && !ids.includes(active)) ids.push(active); // scrolling keeps the focus
  return ids;
}

function draw() {
  frame = 0;
  if (!isShown) return;
  const rows = Math.ceil(order.length / layout.columns);
  grid.style.height = `${Math.max(0, rows * (layout.height + layout.gap) - layout.gap)}px`;
  const ids = visibleIds();
  const wanted = new Set(ids);
  const hadFocus = grid.contains(document.activeElement);
  for (const [id, tile] of tiles) if (!wanted.has(id)) { tiles.delete(id); unusedTiles.push(tile); }
  const now = rooms.now();
  for (const id of ids) {
    if (!tiles.has(id)) tiles.set(id, unusedTiles.pop() || createTile());
    placeTile(tiles.get(id), id, now);
  }
  reorderNodes(ids.map((id) => tiles.get(id).node));
  if (hadFocus && !grid.contains(document.activeElement)) tiles.get(active)?.parts.link.focus({ preventScroll: true });
}

function placeTile(tile, id, now) {
  const index = indexOf.get(id);
  updateTile(tile, rooms.room(id), now);
  const x = (index % layout.columns) * (layout.width + layout.gap);
  const y = Math.floor(index / layout.columns) * (layout.height + layout.gap);
  const style = `transform:translate(${x}px,${y}px);width:${layout.width}px;height:${layout.height}px`;
  if (tile.style !== style) { tile.node.style.cssText = style; tile.style = style; }
  tile.node.setAttribute("aria-posinset", index + 1);
  tile.node.setAttribute("aria-setsize", order.length);
  tile.parts.link.tabIndex = id === active ? 0 : -1;
}

/** Put the nodes in reading order and remove all others. */
function reorderNodes(nodes) {
  let cursor = grid.firstChild;
  for (const node of nodes) {
    if (node === cursor) cursor = cursor.nextSibling;
    else grid.insertBefore(node, cursor);
  }
  while (cursor) { const next = cursor.nextSibling; cursor.remove(); cursor = next; }
  unusedTiles.length = Math.min(unusedTiles.length, 100);
}

function onRoomsChanged(ids) {
  const dependsOnState = ["people", "co2"].includes(byId("sort").value) || byId("filter").value !== "all";
  const wait = Math.max(0, sortedAt + SORT_INTERVAL - performance.now());
  if (rooms.size() !== rankedRooms || !sortedAt) sort();
  else if (dependsOnState && !sortTimer) sortTimer = setTimeout(sort, wait);
  if (!isShown) return;
  const now = rooms.now();
  for (const id of ids) if (tiles.has(id) && rooms.room(id)) updateTile(tiles.get(id), rooms.room(id), now);
}

/** Scroll a room into view and focus it. */
export function focusRoom(id) {
  if (!indexOf.has(id)) return;
  active = id;
  const step = layout.height + layout.gap;
  const top = grid.getBoundingClientRect().top + Math.floor(indexOf.get(id) / layout.columns) * step;
  const tools = byId("tools");
  const isSticky = getComputedStyle(tools).position === "sticky";
  const bar = document.querySelector(".bar").offsetHeight + (isSticky ? tools.offsetHeight : 0) + 12;
  if (top < bar) window.scrollBy(0, top - bar);
  const below = top + layout.height + 12 - window.innerHeight;
  if (top >= bar && below > 0) window.scrollBy(0, below);
  cancelAnimationFrame(frame);
  draw();
  tiles.get(id)?.parts.link.focus({ preventScroll: true });
}

const STEPS = {
  ArrowRight: () => 1, ArrowLeft: () => -1, ArrowDown: () => layout.columns, ArrowUp: () => -layout.columns,
  PageDown: () => layout.columns * Math.max(1, Math.floor(window.innerHeight / (layout.height + layout.gap)) - 1),
  PageUp: () => -STEPS.PageDown(), Home: () => -order.length, End: () => order.length,
};

/** Move the focus by a navigation key; returns whether the key was handled. */
export function handleKey(key) {
  if (!STEPS[key] || !order.length) return false;
  const from = indexOf.get(active) ?? 0;
  const inGrid = grid.contains(document.activeElement);
  const isLastRow = Math.floor(from / layout.columns) === Math.floor((order.length - 1) / layout.columns);
  const isAtEnd = key === "ArrowDown" && isLastRow;
  const to = inGrid && !isAtEnd ? Math.min(order.length - 1, Math.max(0, from + STEPS[key]())) : from;
  if (inGrid && key === "ArrowUp" && from < layout.columns) byId("search").focus();
  else focusRoom(order[to]);
  return true;
}

export function show(id = null) {
  isShown = true;
  measure();
  sort();
  draw();
  if (id) focusRoom(id);
}

export const hide = () => { isShown = false; };

/** Attach the event handlers, once at the start. */
export function start() {
  rooms.onChange(onRoomsChanged);
  byId("tools").addEventListener("submit", (event) => { event.preventDefault(); if (order.length) focusRoom(order[0]); });
  for (const id of ["search", "filter", "sort"]) byId(id).addEventListener("input", sort);
  byId("search").addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && order.length) { event.preventDefault(); focusRoom(order[0]); }
  });
  byId("no-rooms-reset").addEventListener("click", () => {
    byId("search").value = "";
    byId("filter").value = "all";
    sort();
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
  window.addEventListener("scroll", scheduleDraw, { passive: true });
  new ResizeObserver(() => { if (isShown && grid.clientWidth) { measure(); scheduleDraw(); } }).observe(byId("rooms-view"));
  setInterval(() => {
    for (const [id, tile] of tiles) if (rooms.room(id)) updateAge(tile, rooms.room(id), rooms.now());
  }, AGE_INTERVAL);
}

// The list of all rooms, as tiles or as strips of today. Only visible ones are in the document, so thousands of rooms
// scroll smoothly.

import { byId } from "./dom.js";
import * as order from "./room-order.js";
import * as rooms from "./room-store.js";
import { TILES } from "./room-tile.js";
import * as todayData from "./today-data.js";

const OVERSCAN = 400; // drawn above and below the visible area [px]
const AGE_INTERVAL = 10000; // [ms]

const grid = byId("grid");
const tiles = new Map(); // room id -> tile in the document
const unusedTiles = []; // to be reused
let kind = TILES; // how a room is shown: {name, create, update, updateAge, layout, handleKey}
let active = null; // the room with the keyboard focus
let layout = { columns: 1, width: 0, height: 1, gap: 0 };
let frame = 0; // the requested animation frame
let isShown = false;

function onSort() {
  if (!order.has(active)) active = order.ids()[0] ?? null;
  scheduleDraw();
}

/** Compute columns and sizes from the width; heights are in rem and grow with the text size. */
function measure() {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const width = grid.clientWidth;
  const isNarrow = width < 35 * rem;
  grid.classList.toggle("rows", isNarrow);
  layout = kind.layout(width, rem, isNarrow);
}

function scheduleDraw() {
  if (!frame && isShown) frame = requestAnimationFrame(draw);
}

function visibleIds() {
  const step = layout.height + layout.gap;
  const top = -grid.getBoundingClientRect().top;
  const first = Math.max(0, Math.floor((top - OVERSCAN) / step));
  const last = Math.ceil((top + window.innerHeight + OVERSCAN) / step);
  const ids = order.ids().slice(first * layout.columns, last * layout.columns);
  const hasFocus = tiles.get(active)?.node.contains(document.activeElement);
  if (hasFocus && order.has(active) && !ids.includes(active)) ids.push(active); // scrolling keeps the focus
  return ids;
}

function draw() {
  frame = 0;
  if (!isShown) return;
  const rows = Math.ceil(order.size() / layout.columns);
  grid.style.height = `${Math.max(0, rows * (layout.height + layout.gap) - layout.gap)}px`;
  const ids = visibleIds();
  const wanted = new Set(ids);
  const hadFocus = grid.contains(document.activeElement);
  for (const [id, tile] of tiles) if (!wanted.has(id)) { tiles.delete(id); unusedTiles.push(tile); }
  const now = rooms.now();
  for (const id of ids) {
    if (!tiles.has(id)) tiles.set(id, unusedTiles.pop() || kind.create());
    placeTile(tiles.get(id), id, now);
  }
  reorderNodes(ids.map((id) => tiles.get(id).node));
  if (hadFocus && !grid.contains(document.activeElement)) tiles.get(active)?.parts.link.focus({ preventScroll: true });
}

function placeTile(tile, id, now) {
  const index = order.index(id);
  kind.update(tile, rooms.room(id), now);
  const x = (index % layout.columns) * (layout.width + layout.gap);
  const y = Math.floor(index / layout.columns) * (layout.height + layout.gap);
  const style = `transform:translate(${x}px,${y}px);width:${layout.width}px;height:${layout.height}px`;
  if (tile.style !== style) { tile.node.style.cssText = style; tile.style = style; }
  tile.node.setAttribute("aria-posinset", index + 1);
  tile.node.setAttribute("aria-setsize", order.size());
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
  if (!isShown) return;
  const now = rooms.now();
  for (const id of ids) if (tiles.has(id) && rooms.room(id)) kind.update(tiles.get(id), rooms.room(id), now);
}

/** Scroll a room into view and focus it. */
function focusRoom(id) {
  if (!order.has(id)) return;
  active = id;
  const step = layout.height + layout.gap;
  const top = grid.getBoundingClientRect().top + Math.floor(order.index(id) / layout.columns) * step;
  const tools = byId("tools");
  const isSticky = getComputedStyle(tools).position === "sticky";
  const head = byId("today-head").hidden ? 0 : byId("today-axis").offsetHeight + byId("today-readout").offsetHeight + 24;
  const bar = document.querySelector(".bar").offsetHeight + (isSticky ? tools.offsetHeight : 0) + head + 12;
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
  PageUp: () => -STEPS.PageDown(), Home: () => -order.size(), End: () => order.size(),
};

/** Move the focus by a navigation key; returns whether the key was handled. */
export function handleKey(key) {
  if (!STEPS[key] || !order.size()) return false;
  const from = order.index(active) ?? 0;
  const inGrid = grid.contains(document.activeElement);
  if (inGrid && kind.handleKey?.(key, rooms.room(active))) return true;
  const isLastRow = Math.floor(from / layout.columns) === Math.floor((order.size() - 1) / layout.columns);
  const isAtEnd = key === "ArrowDown" && isLastRow;
  const to = inGrid && !isAtEnd ? Math.min(order.size() - 1, Math.max(0, from + STEPS[key]())) : from;
  if (inGrid && key === "ArrowUp" && from < layout.columns) byId("search").focus();
  else focusRoom(order.ids()[to]);
  return true;
}

/** Show the rooms as another kind, and focus one of them if given. */
export function show(wanted, id = null) {
  if (kind !== wanted) {
    kind = wanted;
    tiles.clear();
    unusedTiles.length = 0;
    grid.replaceChildren();
  }
  grid.dataset.kind = kind.name;
  isShown = true;
  measure();
  order.sort();
  draw();
  if (id) focusRoom(id);
}

export const hide = () => { isShown = false; };

/** Attach the event handlers, once at the start. */
export function start() {
  order.onSort(onSort);
  order.start();
  rooms.onChange(onRoomsChanged);
  todayData.onChange(() => onRoomsChanged(tiles.keys()));
  byId("tools").addEventListener("submit", (event) => {
    event.preventDefault();
    if (order.size()) focusRoom(order.ids()[0]);
  });
  byId("search").addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && order.size()) { event.preventDefault(); focusRoom(order.ids()[0]); }
  });
  grid.addEventListener("focusin", (event) => {
    const id = event.target.closest("[data-room]")?.dataset.room;
    if (!id || id === active) return;
    const before = tiles.get(active);
    if (before) before.parts.link.tabIndex = -1;
    active = id;
    tiles.get(id).parts.link.tabIndex = 0;
  });
  window.addEventListener("scroll", scheduleDraw, { passive: true });
  new ResizeObserver(() => { if (isShown && grid.clientWidth) { measure(); scheduleDraw(); } }).observe(byId("rooms-view"));
  setInterval(() => {
    for (const [id, tile] of tiles) if (rooms.room(id)) kind.updateAge?.(tile, rooms.room(id), rooms.now());
  }, AGE_INTERVAL);
}

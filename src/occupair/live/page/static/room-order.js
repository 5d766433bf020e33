// The rooms that the search, the filter and the sort order select, for the tiles and for the strips of today.

import { byId, setText } from "./dom.js";
import { isOccupancyKnown } from "./format.js";
import { locale, t } from "./i18n.js";
import * as rooms from "./room-store.js";

const SORT_INTERVAL = 2000; // live changes reorder the rooms at most this often, so they do not jump around [ms]

const listeners = new Set();
let order = []; // room ids, filtered and sorted
let indexOf = new Map(); // room id -> its index in `order`
let sortedAt = 0;
let sortTimer = 0;

export const ids = () => order;
export const size = () => order.length;
export const has = (id) => indexOf.has(id);
export const index = (id) => indexOf.get(id);

/** Call `listener()` whenever the rooms were selected or sorted again. */
export const onSort = (listener) => { listeners.add(listener); };

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
export const compareFloors = (a, b) => floorLevel(a) - floorLevel(b) || compareNames(a, b);
const descending = (value) => (a, b) => (value(b.state) ?? -1) - (value(a.state) ?? -1) || a.rank - b.rank;
const SORTS = {
  name: (a, b) => a.rank - b.rank,
  floor: (a, b) => compareFloors(a.floor, b.floor) || a.rank - b.rank,
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

/** The rooms of a floor, by name. */
export function roomsOfFloor(floor) {
  rankByName();
  return [...rooms.all()].filter((room) => room.floor === floor).sort(SORTS.name);
}

export function sort() {
  clearTimeout(sortTimer);
  sortTimer = 0;
  sortedAt = performance.now();
  rankByName();
  const terms = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = filterFor(byId("filter").value);
  const found = [...rooms.all()].filter((room) => matches(room.state) && terms.every((term) => room.searchText.includes(term)));
  order = found.sort(SORTS[byId("sort").value] || SORTS.name).map((room) => room.room);
  indexOf = new Map(order.map((id, i) => [id, i]));
  showCount();
  for (const listener of listeners) listener();
}

function showCount() {
  const total = rooms.size();
  const isAll = order.length === total;
  setText(byId("found"), isAll ? t("list.rooms", { count: total }) : t("list.found", { found: order.length, count: total }));
  byId("no-rooms").hidden = order.length > 0;
  byId("no-rooms-reset").hidden = !total;
  setText(byId("no-rooms-text"), total ? t("list.noMatch") : t("list.noRooms"));
}

/** Sort again after a change of rooms or states, if that may change the order. */
function onRoomsChanged() {
  const dependsOnState = ["people", "co2"].includes(byId("sort").value) || byId("filter").value !== "all";
  const wait = Math.max(0, sortedAt + SORT_INTERVAL - performance.now());
  if (rooms.size() !== rankedRooms || !sortedAt) sort();
  else if (dependsOnState && !sortTimer) sortTimer = setTimeout(sort, wait);
}

/** Attach the event handlers, once at the start and before other listeners of the rooms. */
export function start() {
  rooms.onChange(onRoomsChanged);
  for (const id of ["search", "filter", "sort"]) byId(id).addEventListener("input", sort);
  byId("no-rooms-reset").addEventListener("click", () => {
    byId("search").value = "";
    byId("filter").value = "all";
    sort();
    byId("search").focus();
  });
}

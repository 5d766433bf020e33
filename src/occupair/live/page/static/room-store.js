// All rooms and their current states. Listeners are notified once per animation frame, however fast states arrive.

const ONLINE = new Set(["ok", "starting"]); // the service reports a sensor that is offline as stale
const MAX_DELAY = 3600000; // readings of an online sensor that are older come from another clock [ms]

const rooms = new Map(); // id -> {room, name, floor, timezone, capacity, state, at: time of the state [ms], searchText}
const listeners = new Set();
let changed = new Set();
let frame = 0;
let newest = 0; // time of the newest state [ms]
let clockOffset = 0; // service clock minus browser clock [ms]

export const all = () => rooms.values();
export const room = (id) => rooms.get(id);
export const size = () => rooms.size;

/** Current time of the service [ms]. With replayed or simulated readings it differs from the browser's clock. */
export const now = () => Math.max(Date.now() + clockOffset, newest);

/** An online room has recent readings: if they are hours old by the browser's clock, the service runs on another. */
function updateClock() {
  let online = 0; // newest state of an online room [ms]
  newest = 0;
  for (const { state, at } of rooms.values()) {
    if (at > newest) newest = at;
    if (at > online && ONLINE.has(state.quality)) online = at;
  }
  clockOffset = online && Date.now() - online > MAX_DELAY ? online - Date.now() : 0;
}

/** Call `listener(ids)` with the changed rooms, at most once per frame; returns a function that stops it. */
export function onChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function markChanged(id) {
  changed.add(id);
  if (!frame) frame = requestAnimationFrame(notify);
}

function notify() {
  frame = 0;
  updateClock();
  const ids = changed;
  changed = new Set();
  for (const listener of listeners) listener(ids);
}

function setState(entry, state) {
  entry.state = state;
  entry.at = state?.time ? Date.parse(state.time) : 0;
  markChanged(entry.room);
}

/** Replace the rooms by the response of `GET /api/rooms`. */
export function setRooms(response) {
  const ids = new Set(response.rooms.map((given) => given.room));
  for (const id of rooms.keys()) if (!ids.has(id)) { rooms.delete(id); markChanged(id); }
  for (const given of response.rooms) {
    const name = given.name || given.room;
    const floor = given.floor || "";
    const entry = { ...given, name, floor, searchText: `${name} ${floor} ${given.room}`.toLowerCase() };
    const before = rooms.get(given.room)?.state ?? null;
    rooms.set(given.room, entry);
    setState(entry, given.state ?? before);
  }
  updateClock();
}

/** Take states from the event stream; returns whether one belongs to a room that is not in the list. */
export function setStates(states) {
  let hasUnknownRoom = false;
  for (const state of states) {
    const entry = rooms.get(state.room);
    if (entry) setState(entry, state);
    else hasUnknownRoom = true;
  }
  return hasUnknownRoom;
}

/** Number of people in all rooms, and of occupied, empty and unknown rooms. */
export function totals() {
  const sum = { people: 0, occupied: 0, empty: 0, unknown: 0, rooms: rooms.size };
  for (const { state } of rooms.values()) {
    if (!state || state.people === null || state.people === undefined) sum.unknown += 1;
    else {
      sum.people += state.people;
      if (state.people > 0) sum.occupied += 1;
      else sum.empty += 1;
    }
  }
  return sum;
}

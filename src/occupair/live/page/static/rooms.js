// All rooms and what they say now. Changes are handed on once per animation frame, however fast they come.

const FRESH = new Set(["ok", "starting"]); // of a silent sensor the service would say stale
const APART = 3600000; // clocks that differ by more are meant to [ms]

const rooms = new Map(); // id -> {room, name, floor, timezone, capacity, state, at: its time [ms], text: to search}
const listeners = new Set();
let changed = new Set();
let frame = 0;
let newest = 0; // time of the newest state [ms]
let ahead = 0; // how far the service's clock is ahead of ours [ms], negative: behind

export const all = () => rooms.values();
export const room = (id) => rooms.get(id);
export const size = () => rooms.size;

/** What time it is for the service [ms]. Replayed or simulated readings run ahead of our clock, or behind it. */
export const now = () => Math.max(Date.now() + ahead, newest);

/** A room that is well was heard of lately: if that is hours ago by our clock, the service has another clock. */
function setClock() {
  let heard = 0;
  newest = 0;
  for (const { state, at } of rooms.values()) {
    if (at > newest) newest = at;
    if (at > heard && FRESH.has(state.quality)) heard = at;
  }
  ahead = heard && Date.now() - heard > APART ? heard - Date.now() : 0;
}

/** `f(ids)` is called with the changed rooms, at most once per frame; returns how to stop. */
export function onChange(f) {
  listeners.add(f);
  return () => listeners.delete(f);
}

function mark(id) {
  changed.add(id);
  if (!frame) frame = requestAnimationFrame(flush);
}

function flush() {
  frame = 0;
  setClock();
  const ids = changed;
  changed = new Set();
  for (const f of listeners) f(ids);
}

function take(known, state) {
  known.state = state;
  known.at = state?.time ? Date.parse(state.time) : 0;
  mark(known.room);
}

/** The answer of `GET /api/rooms`: which rooms there are. Rooms that are gone go. */
export function setRooms(answer) {
  const there = new Set(answer.rooms.map((given) => given.room));
  for (const id of rooms.keys()) if (!there.has(id)) { rooms.delete(id); mark(id); }
  for (const given of answer.rooms) {
    const name = given.name || given.room;
    const floor = given.floor || "";
    const kept = { ...given, name, floor, text: `${name} ${floor} ${given.room}`.toLowerCase() };
    const before = rooms.get(given.room)?.state ?? null;
    rooms.set(given.room, kept);
    take(kept, given.state ?? before);
  }
  setClock();
}

/** States from the stream; returns whether there was one of a room we do not know. */
export function setStates(states) {
  let strange = false;
  for (const state of states) {
    const known = rooms.get(state.room);
    if (known) take(known, state);
    else strange = true;
  }
  return strange;
}

/** People in all rooms, and how many rooms are occupied, empty and unknown. */
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

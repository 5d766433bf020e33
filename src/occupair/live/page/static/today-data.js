// Half-hourly occupancy of all rooms since their midnight, fetched once a minute while it is shown.

import { request } from "./http.js";

const REFRESH_INTERVAL = 60000; // [ms]
const RETRY_INTERVAL = 15000; // after an error [ms]

const days = new Map(); // room id -> {values, slots, start [ms], minutes, timezone, day}
const listeners = new Set();
let timer = 0;
let fetchedAt = -REFRESH_INTERVAL;
let isRunning = false;

/** The day of a room; null until it is known. */
export const dayOf = (id) => days.get(id) ?? null;
/** Mean occupancy by slot up to the last known one [people]; null if unknown. */
export const valuesOf = (id) => days.get(id)?.values ?? null;

/** Call `listener()` when there are new values. */
export const onChange = (listener) => { listeners.add(listener); };

function setDays({ minutes, days: given }) {
  days.clear();
  for (const { rooms, start, ...about } of given) {
    const shared = { ...about, start: Date.parse(start), minutes };
    for (const [id, values] of Object.entries(rooms)) days.set(id, { ...shared, values });
  }
  for (const listener of listeners) listener();
}

async function refresh() {
  clearTimeout(timer);
  let wait = REFRESH_INTERVAL;
  try {
    if (!document.hidden) setDays(await request("GET", "api/today"));
    fetchedAt = performance.now();
  } catch (error) {
    wait = error.status === 401 ? 0 : RETRY_INTERVAL; // after a login, it is started again
  }
  if (wait && isRunning) timer = setTimeout(refresh, wait);
  else isRunning = false;
}

/** Fetch the values now, unless they are newer than a minute, and then every minute. */
export function start() {
  if (isRunning) return;
  isRunning = true;
  timer = setTimeout(refresh, Math.max(0, fetchedAt + REFRESH_INTERVAL - performance.now()));
}

/** Stop fetching, as nothing shows the values. */
export function stop() {
  isRunning = false;
  clearTimeout(timer);
}

// A room's local day: what was estimated, the day before, and what people said.

import { history } from "./api.js";
import { addDays, dayStart, localDay } from "./zones.js";

const MINUTE = 60000;

/** An estimate as the chart wants it: its time in ms, and unknown as null. */
const row = (given) => ({
  time: Date.parse(given.time), people: given.people ?? null, low: given.low ?? null, high: given.high ?? null,
  co2: given.co2 ?? null, smoothed: given.co2_smoothed ?? null, ventilation: given.ventilation ?? null,
  quality: given.quality,
});

/** The usual time between estimates [ms]. */
export function interval(estimates) {
  const steps = [];
  for (let i = Math.max(1, estimates.length - 60); i < estimates.length; i += 1) {
    steps.push(estimates[i].time - estimates[i - 1].time);
  }
  steps.sort((a, b) => a - b);
  return steps[Math.floor(steps.length / 2)] || MINUTE;
}

/** The estimate that holds at `time`, or null: none, or too old to hold. */
export function at(estimates, time) {
  let [low, high] = [0, estimates.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (estimates[middle].time <= time) low = middle + 1;
    else high = middle;
  }
  const found = estimates[low - 1];
  return found && time - found.time < 2 * interval(estimates) ? found : null;
}

export class Day {
  constructor(room, zone, day) {
    const start = dayStart(zone, day);
    Object.assign(this, { room, zone, day, start, end: dayStart(zone, addDays(day, 1)) });
    Object.assign(this, { before: dayStart(zone, addDays(day, -1)), estimates: [], yesterday: [], labels: [] });
  }

  /** Fetch the day; the day before only once, as it is over. */
  async load(signal) {
    const [today, yesterday] = await Promise.all([
      history(this.room, this.start, this.end, signal),
      this.yesterday.length ? null : history(this.room, this.before, this.start, signal),
    ]);
    this.estimates = today.map(row);
    if (yesterday) this.yesterday = yesterday.map(row);
    this.loaded = true;
  }

  /**
   * Take a live state in: "new" when it was appended, "same" when there is nothing to do, and "fetch" when the
   * day has to be fetched again: something before it was corrected, or states in between were missed.
   */
  take(state) {
    if (!state.time || !this.loaded) return "same";
    const given = row({ ...state, people: state.people_exact ?? state.people });
    if (given.time < this.start || given.time >= this.end) return "same";
    const last = this.estimates.at(-1);
    if (last && given.time <= last.time) return given.time === last.time && alike(given, last) ? "same" : "fetch";
    const missed = !last || given.time - last.time > 1.5 * interval(this.estimates);
    this.estimates.push(given);
    return missed ? "fetch" : "new";
  }

  holds(time) {
    return localDay(this.zone, time) === this.day;
  }
}

const alike = (a, b) => ["people", "low", "high", "smoothed"].every((key) => a[key] === b[key]);

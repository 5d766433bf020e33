// The data of a room's local day: its estimates, those of the day before, and the head counts.

import { fetchHistory } from "./api.js";
import { addDays, dayStart, localDay } from "./time-zones.js";

const MINUTE = 60000;

/** Convert an estimate of the service: times in ms, unknown values as null. */
const toEstimate = (given) => ({
  time: Date.parse(given.time), people: given.people ?? null, low: given.low ?? null, high: given.high ?? null,
  co2: given.co2 ?? null, smoothed: given.co2_smoothed ?? null, ventilation: given.ventilation ?? null,
  quality: given.quality,
});

/** Median time between estimates [ms]. */
export function samplingInterval(estimates) {
  const steps = [];
  for (let i = Math.max(1, estimates.length - 60); i < estimates.length; i += 1) {
    steps.push(estimates[i].time - estimates[i - 1].time);
  }
  steps.sort((a, b) => a - b);
  return steps[Math.floor(steps.length / 2)] || MINUTE;
}

/** The estimate at `time`; null if there is none, or only one that is too old. */
export function estimateAt(estimates, time) {
  let [low, high] = [0, estimates.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (estimates[middle].time <= time) low = middle + 1;
    else high = middle;
  }
  const found = estimates[low - 1];
  return found && time - found.time < 2 * samplingInterval(estimates) ? found : null;
}

export class Day {
  constructor(room, zone, day) {
    const start = dayStart(zone, day);
    Object.assign(this, { room, zone, day, start, end: dayStart(zone, addDays(day, 1)) });
    Object.assign(this, { previousStart: dayStart(zone, addDays(day, -1)), estimates: [], previousDay: [], labels: [] });
  }

  /** Fetch the estimates; those of the day before only once. */
  async load(signal) {
    const [estimates, previousDay] = await Promise.all([
      fetchHistory(this.room, this.start, this.end, signal),
      this.previousDay.length ? null : fetchHistory(this.room, this.previousStart, this.start, signal),
    ]);
    this.estimates = estimates.map(toEstimate);
    if (previousDay) this.previousDay = previousDay.map(toEstimate);
    this.isLoaded = true;
  }

  /**
   * Add a live state. Returns "appended", "unchanged", or "outdated" if the day has to be fetched again because
   * earlier estimates were corrected or states in between were missed.
   */
  addState(state) {
    if (!state.time || !this.isLoaded) return "unchanged";
    const given = toEstimate({ ...state, people: state.people_exact ?? state.people });
    if (given.time < this.start || given.time >= this.end) return "unchanged";
    const last = this.estimates.at(-1);
    if (last && given.time <= last.time) {
      return given.time === last.time && isEqual(given, last) ? "unchanged" : "outdated";
    }
    const isMissing = !last || given.time - last.time > 1.5 * samplingInterval(this.estimates);
    this.estimates.push(given);
    return isMissing ? "outdated" : "appended";
  }

  includes(time) {
    return localDay(this.zone, time) === this.day;
  }
}

const isEqual = (a, b) => ["people", "low", "high", "smoothed"].every((key) => a[key] === b[key]);

// How states are put into words. What is not known is "–", never 0.

export const QUALITY = {
  ok: "Readings come as they should.",
  starting: "Little has been seen of the day yet, or since a gap.",
  stale: "The sensor is silent, so how many are in is not known.",
  suspect: "The sensor says what cannot be, so how many are in is not known.",
  untrained: "This room has no model yet. Enter how many you are a few times, then train it.",
};

const REASONS = { stale: "sensor silent", suspect: "sensor suspect", untrained: "no model yet" };

const known = (value) => value !== null && value !== undefined;

/** Whether a room's count is known. */
export const counted = (state) => Boolean(state) && known(state.people);

export const count = (state) => (counted(state) ? String(state.people) : "–");

export const people = (number) => `${number} ${number === 1 ? "person" : "people"}`;

/** "9–15", or "" where there is no range. */
export function range(low, high) {
  if (!known(low) || !known(high)) return "";
  const [from, to] = [Math.max(0, Math.round(low)), Math.round(high)];
  return from === to ? String(from) : `${from}–${to}`;
}

export const ppm = (value) => (known(value) ? `${Math.round(value)}` : "–");

export const percent = (value) => (known(value) ? `${Math.round(100 * value)} %` : "–");

/** Why the count is not known, without a full stop. */
export function reason(state) {
  if (!state) return "no reading yet";
  return (state.reason || REASONS[state.quality] || "not known yet").replace(/\.$/, "");
}

const TRENDS = { 1: "rising", 0: "steady", "-1": "falling" };
export const trend = (state) => (counted(state) ? TRENDS[state.trend] ?? "steady" : "");

/** "just now", "4 min ago", "3 h ago", "2 days ago" from milliseconds. */
export function ago(since) {
  const minutes = Math.floor(since / 60000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ago`;
  return `${Math.floor(hours / 24)} days ago`;
}

/** "58 kB" */
export function size(bytes) {
  return bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

// The view: filters, order and the open room. It is kept in the fragment of the address.

const NO_VIEW = { q: "", trust: "", sensor: "", status: "", basis: "", group: "", nrmse: "", sort: "room", room: "" };
const CHOICES = ["trust", "sensor", "status", "basis"];
const HAS_MODEL = "model";  // status "trained" or "fallback"

/** Parse a fragment such as "sensor=faulty&sort=-nrmse"; unknown names are ignored. */
function parseView(fragment) {
  const view = readFragment(fragment, NO_VIEW);
  if (!(view.sort.replace(/^-/, "") in COLUMN)) view.sort = NO_VIEW.sort;
  for (const name of CHOICES) {
    const known = DATA.classes[name].words.includes(view[name]) || (name === "status" && view[name] === HAS_MODEL);
    if (!known) view[name] = "";
  }
  if (!nrmseRange(view)) view.nrmse = "";
  if (!groupOf(view)) view.group = "";
  return view;
}

/** Range [low, high) of the nRMSE that a view is limited to; null if there is none. */
function nrmseRange({ nrmse }) {
  const match = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)?$/.exec(nrmse);
  return match && { low: Number(match[1]), high: match[2] === undefined ? Infinity : Number(match[2]) };
}

/** Group of rooms that a view is limited to, such as "failed-0a1b2c3d"; null if there is none. */
function groupOf({ group }) {
  const [kind, key] = group.split("-");
  if (!Object.hasOwn(DATA.groups, kind)) return null;
  const number = DATA.groups[kind].keys.indexOf(key);
  return number < 0 ? null : { kind, number, label: DATA.groups[kind].labels[number], codes: DATA.groups[kind].codes };
}

let searchTexts = null;  // of each room, in lower case
function searchable() {
  searchTexts ??= DATA.room.map((name, room) => (
    [name, textOf("reason", room), textOf("findings", room), textOf("trust_reason", room), textOf("advice", room)].join("\n").toLowerCase()));
  return searchTexts;
}

/** The rooms that pass the filters of a view, except the filter by nRMSE if `anyError`, by name. */
function filterRooms(view, { anyError = false } = {}) {
  const tests = [];
  for (const name of CHOICES) {
    if (!view[name]) continue;
    const { words, codes } = DATA.classes[name];
    const wanted = view[name] === HAS_MODEL ? ["trained", "fallback"] : [view[name]];
    const numbers = wanted.map((word) => words.indexOf(word));
    tests.push((room) => numbers.includes(codes[room]));
  }
  const group = groupOf(view);
  if (group) tests.push((room) => group.codes[room] === group.number);
  const range = anyError ? null : nrmseRange(view);
  const nrmse = DATA.numbers.nrmse;
  if (range) tests.push((room) => nrmse[room] !== null && nrmse[room] >= range.low && nrmse[room] < range.high);
  const words = view.q.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length) {
    const texts = searchable();
    tests.push((room) => words.every((word) => texts[room].includes(word)));
  }
  const found = new Uint32Array(DATA.count);
  let count = 0;
  for (let room = 0; room < DATA.count; room++) if (tests.every((test) => test(room))) found[count++] = room;
  return found.subarray(0, count);
}

/** Sort keys of a column, one number per room; NaN if the value is not known. */
const sortKeys = new Map();
function keysOf({ name, kind }) {
  if (!sortKeys.has(name)) sortKeys.set(name, makeKeys(name, kind));
  return sortKeys.get(name);
}

function makeKeys(name, kind) {
  const keys = new Float64Array(DATA.count);
  if (kind === "name") return keys.map((_, room) => room);
  if (kind === "number") return keys.map((_, room) => numberOf(name, room) ?? NaN);
  if (kind === "class") {
    const { words, codes } = DATA.classes[name];
    return keys.map((_, room) => (words[codes[room]] === "" ? NaN : codes[room]));
  }
  const texts = DATA.room.map((_, room) => (kind === "note" ? noteOf(room) : textOf(name, room)));
  const ranks = new Map([...new Set(texts)].sort().map((text, rank) => [text, rank]));
  return keys.map((_, room) => (texts[room] === "" ? NaN : ranks.get(texts[room])));
}

/** Rooms in the order of a view, such as "nrmse" or "-nrmse". */
const sortRooms = (rooms, sort) => sortByKeys(rooms, keysOf(COLUMN[sort.replace(/^-/, "")]), sort.startsWith("-"));

// The rooms of the report. A room is its index: rooms are stored in the order of their names.

const DATA = JSON.parse(byId("rooms-data").textContent);
const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const DAY_MS = 86_400_000;
const IS_OPEN = new Set(DATA.open);  // cells of the week, 24 per day

const roomName = (room) => DATA.name[room];
const numberOf = (name, room) => DATA.numbers[name][room];
const hasSeats = DATA.numbers.seats.some((seats) => seats !== null);
const hasFloors = DATA.floor.some((floor) => floor !== "");

/** Integers in tenths as numbers. */
const tenth = (value) => (value === null || value === undefined ? null : value / 10);

const formatPeople = (value) => (value === null ? DASH : value < 9.95 ? formatOne(value) : formatFixed(0)(value));
const formatHours = (value) => (value === null ? DASH : (value < 99.95 ? formatOne(value) : formatUpTo(0)(value)) + NBSP + "h");
const formatRange = (low, high, format) => (low === null || high === null ? "" : `${format(low)}–${format(high)}`);

/** The date that is some days after an ISO date, as a Date in UTC. */
const dateAfter = (first, days) => new Date(Date.parse(`${first}T00:00Z`) + days * DAY_MS);
const dayFormat = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" });
const shortDay = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const formatDay = (first, days) => dayFormat.format(dateAfter(first, days));
const formatClock = (minutes) => {
  const time = ((minutes % 1440) + 1440) % 1440;
  return `${String(Math.floor(time / 60)).padStart(2, "0")}:${String(time % 60).padStart(2, "0")}`;
};

/** Findings on each room, as titles. */
const FINDINGS = DATA.name.map(() => []);
for (const { title, rooms } of DATA.findings) for (const room of rooms) FINDINGS[room].push(title);

const noteOf = (room) => DATA.problem[room] || FINDINGS[room].join("; ");
const unusedText = (value, room) => (value === null ? DASH : `${value}${numberOf("at_limit", room) ? "*" : ""}`);

// Columns of the table: kind is "name", "text", "number", "week" or "note"; width in rem.
const COLUMNS = [
  { name: "room", label: "Room", kind: "name", width: 11, help: "Name of the room" },
  hasFloors && { name: "floor", label: "Floor", kind: "text", width: 6, help: "Floor or building part" },
  hasSeats && { name: "seats", label: "Seats", kind: "number", width: 4, show: formatCount, help: "Number of seats" },
  { name: "week", label: "Week", unit: "Mon to Sun", kind: "week", width: 6.5, help: "Typical week: a line per day from Monday, from midnight to midnight; sorted by use" },
  hasSeats && { name: "used", label: "Seats used", unit: "open hours", kind: "number", width: 5.75, show: formatPercent, help: "Mean count over the opening hours divided by the seats" },
  { name: "in_use", label: "In use", unit: "open hours", kind: "number", width: 5.5, show: formatPercent, help: "Share of the opening hours with people" },
  { name: "hours", label: "Hours", unit: "per open day", kind: "number", width: 6, show: formatOne, help: "Hours in use per day with opening hours" },
  { name: "people_in_use", label: "People", unit: "when in use", kind: "number", width: 6, show: formatOne, help: "Mean count while in use" },
  { name: "peak", label: "Peak", unit: "people", kind: "number", width: 4.25, show: formatPeople, help: "Highest daily peak" },
  hasSeats && { name: "unused", label: "Never used", unit: "seats, at least", kind: "number", width: 6.75, show: unusedText, help: "Seats minus the upper end of the highest daily peak" },
  DATA.calendar && { name: "meetings", label: "Meetings", kind: "number", width: 5.25, show: formatCount, help: "Meetings in the calendar" },
  DATA.calendar && { name: "empty", label: "Nobody came", unit: "meetings", kind: "number", width: 6.75, show: formatCount, help: "Meetings without people" },
  DATA.calendar && { name: "unbooked", label: "Unbooked", unit: "hours", kind: "number", width: 5.5, show: formatFixed(0), help: "Hours in use without a meeting" },
  { name: "left_out", label: "Left out", unit: "days", kind: "number", width: 4.75, show: formatCount, help: "Days with bad sensor data, left out of all figures" },
  { name: "note", label: "Note", kind: "note", width: 14, help: "Why there are no figures, or what to look at" },
].filter(Boolean);
const COLUMN = Object.fromEntries(COLUMNS.map((column) => [column.name, column]));

/** Text of a cell. */
function cellText({ name, kind, show }, room) {
  if (kind === "name") return roomName(room);
  if (kind === "week") return "";
  if (kind === "number") return show(numberOf(name, room), room);
  return (kind === "note" ? noteOf(room) : DATA[name][room]) || DASH;
}

// The view: filters, order and the open room.
const NO_VIEW = { q: "", floor: "", finding: "", sort: hasSeats ? "-unused" : "room", room: "" };

function parseView(fragment) {
  const view = readFragment(fragment, NO_VIEW);
  if (!(view.sort.replace(/^-/, "") in COLUMN)) view.sort = NO_VIEW.sort;
  if (!DATA.floor.includes(view.floor)) view.floor = "";
  if (!DATA.findings.some(({ key }) => key === view.finding)) view.finding = "";
  return view;
}

const searchTexts = DATA.name.map((name, room) => `${name}\n${DATA.floor[room]}\n${noteOf(room)}`.toLowerCase());

/** The rooms that pass the filters of a view, by name. */
function filterRooms({ q, floor, finding }) {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const group = finding ? new Set(DATA.findings.find(({ key }) => key === finding).rooms) : null;
  const found = DATA.name.map((_, room) => room).filter((room) => (
    (!floor || DATA.floor[room] === floor) && (!group || group.has(room)) && words.every((word) => searchTexts[room].includes(word))));
  return Uint32Array.from(found);
}

/** Rooms in the order of a view, such as "used" or "-used". */
function sortRooms(rooms, sort) {
  const name = sort.replace(/^-/, ""), { kind } = COLUMN[name];
  const texts = kind === "text" || kind === "note" ? DATA.name.map((_, room) => (kind === "note" ? noteOf(room) : DATA[name][room])) : [];
  const ranks = new Map([...new Set(texts)].sort().map((text, rank) => [text, rank]));
  const key = {
    name: (room) => room, week: (room) => numberOf("in_use", room) ?? NaN, number: (room) => numberOf(name, room) ?? NaN,
  }[kind] ?? ((room) => (texts[room] ? ranks.get(texts[room]) : NaN));
  return sortByKeys(rooms, DATA.name.map((_, room) => key(room)), sort.startsWith("-"));
}

const FIELDS = ["room", "floor", "problem", ...Object.keys(DATA.numbers)];
const roomsAsCsv = (rooms) => asCsv(FIELDS, Array.from(rooms, (room) => FIELDS.map((name) => {
  if (name === "room") return roomName(room);
  return name in DATA.numbers ? String(numberOf(name, room) ?? "") : DATA[name][room];
})));

// The rooms as columns. A room is its index: rooms are stored in the order of their names.

const DATA = JSON.parse(document.getElementById("rooms-data").textContent);
const roomName = (room) => DATA.room[room];
const numberOf = (name, room) => DATA.numbers[name][room];

function classOf(name, room) {
  const { words, codes } = DATA.classes[name];
  return words[codes[room]];
}

/** Text of a room. Equal texts are stored once, with a mark for the name of the room. */
function textOf(name, room) {
  const { words, codes } = DATA.texts[name];
  const text = words[codes[room]];
  return DATA.mark && text.includes(DATA.mark) ? text.replaceAll(DATA.mark, () => roomName(room)) : text;
}

/** A text with a capital letter if it starts with a lower-case word, not with a file name. */
const asSentence = (text) => text.replace(/^[a-z]+(?=[ ,]|$)/, (word) => word[0].toUpperCase() + word.slice(1));

/** What matters most about a room: why there is no model, else what is wrong with the sensor, else why trust is limited. */
function noteOf(room) {
  const reason = textOf("reason", room);
  if (classOf("status", room) === "failed") return reason;
  const findings = classOf("sensor", room) === "good" ? "" : textOf("sensor_finding", room);
  return findings || textOf("trust_reason", room) || reason;
}

// Columns of the table: kind is "name", "class", "number", "date" or "note"; width in rem.
const COLUMNS = [
  { name: "room", label: "Room", kind: "name", width: 12, help: "Name of the room" },
  { name: "trust", label: "Trust", kind: "class", width: 6.25, help: "How far the estimates can be used" },
  { name: "sensor", label: "Sensor", kind: "class", width: 6.75, help: "State of the CO2 sensor" },
  { name: "error", label: "Error", unit: "people", kind: "number", width: 4.75, show: formatTwo, help: "RMSE of the estimates on held-out days" },
  { name: "nrmse", label: "nRMSE", kind: "number", width: 4.75, show: formatTwo, help: "Error divided by the standard deviation of the head counts: 0 is perfect, 1 no better than the average" },
  { name: "coverage", label: "Coverage", unit: "of 90" + NBSP + "%", kind: "number", width: 5.5, show: formatPercent, help: "Share of the held-out readings within the 90 % prediction interval" },
  { name: "co2_gain", label: "CO2 adds", unit: "vs clock", kind: "number", width: 5.5, show: formatPercent, help: "Share of the error of a time-of-day profile that CO2 removes" },
  { name: "days", label: "Days", kind: "number", width: 4, show: formatCount, help: "Days with readings" },
  { name: "labelled_days", label: "Labelled", unit: "days", kind: "number", width: 5.25, show: formatCount, help: "Days with head counts and people" },
  { name: "note", label: "Note", kind: "note", width: 20, help: "Why there is no model, else what is wrong with the sensor, else why trust is limited" },
  { name: "status", label: "Status", kind: "class", width: 5.25, help: "Trained as requested, with a fallback, or failed" },
  { name: "basis", label: "Trained on", kind: "class", width: 8.5, help: "What the model was trained on" },
  { name: "missing", label: "Missing", unit: "of time", kind: "number", width: 5, show: formatPercent, help: "Share of the time without CO2 readings" },
  { name: "last", label: "Last day", kind: "date", width: 6.5, help: "Last day with readings" },
];
const COLUMN = Object.fromEntries(COLUMNS.map((column) => [column.name, column]));

/** Text of a cell. */
function cellText({ name, kind, show }, room) {
  if (kind === "name") return roomName(room);
  if (kind === "class") return classOf(name, room) || DASH;
  if (kind === "number") return show(numberOf(name, room));
  return (kind === "note" ? asSentence(noteOf(room)) : textOf(name, room)) || DASH;
}

// Fields of the CSV export: the columns of rooms.parquet, in their order.
const FIELDS = [
  "room", "status", "basis", "reason", "trust", "trust_reason", "sensor", "findings", "advice", "sensor_finding", "days", "labelled_days",
  "first", "last", "timezone", "readings", "interval", "missing", "ventilation", "most_people", "capacity", "volume", "error", "error_10",
  "error_20", "nrmse", "coverage", "occupied_coverage", "clock_error", "co2_gain", "model", "model_bytes", "fingerprint", "seconds",
];

function fieldText(name, room) {
  if (name in DATA.numbers) return numberOf(name, room) === null ? "" : String(numberOf(name, room));
  if (name === "ventilation") return DATA.ventilation[room] ? "true" : "false";
  const text = name in DATA.classes ? classOf(name, room) : name in DATA.texts ? textOf(name, room) : DATA[name][room];
  return text;
}

/** The rooms as CSV, in the given order. */
const roomsAsCsv = (rooms) => asCsv(FIELDS, Array.from(rooms, (room) => FIELDS.map((name) => fieldText(name, room))));

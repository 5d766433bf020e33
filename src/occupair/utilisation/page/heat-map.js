// Heat maps: a table of the hours of the week, and a small picture of it for the table of rooms.

const LEVELS = 10;

/** Measures of a heat map: the value of a cell, the largest value of the scale and the text of a value. */
function measuresOf(room) {
  const { grid } = DATA.rooms[room], seats = numberOf("seats", room);
  const ends = grid.low ? ["people", "low", "high"] : ["people"];
  const most = Math.max(1, ...grid.people.map((value) => Math.ceil(value / 10)));
  const people = (end) => (cell) => tenth(grid[end][cell]);
  const known = (cell) => tenth(grid.known[cell]);
  const interval = (cell, format) => (grid.low ? formatRange(people("low")(cell), people("high")(cell), format) : "");
  const share = (value) => (value === null ? null : value / seats);
  return [
    { name: "People", ends, most, value: (cell, end) => people(end)(cell), show: formatPeople, unit: "people", interval: (cell) => interval(cell, formatPeople), known },
    seats !== null && {
      name: "Seats used", ends, most: 1, value: (cell, end) => share(people(end)(cell)), show: formatPercent, unit: "of the seats", known,
      interval: (cell) => interval(cell, (value) => formatPercent(value / seats)),
    },
    { name: "Time in use", ends: ["people"], most: 1, value: (cell) => (grid.in_use[cell] === null ? null : grid.in_use[cell] / 100), show: formatPercent, unit: "of the time", interval: () => "", known },
  ].filter(Boolean);
}

/** The measure of all rooms together: people of all rooms by their seats, or rooms in use. */
function measuresOfAll() {
  const rooms = DATA.rooms.map((room, k) => ({ room, seats: numberOf("seats", k) })).filter(({ room }) => room);
  const seated = rooms.filter(({ seats }) => seats !== null);
  const sum = (list, cell, value) => {
    let total = 0, weight = 0;
    for (const one of list) {
      if (one.room.grid.people[cell] === null) continue;
      const [add, by] = value(one, cell);
      total += add;
      weight += by;
    }
    return weight ? total / weight : null;
  };
  const known = (cell) => rooms.reduce((hours, { room }) => hours + room.grid.known[cell] / 10, 0);
  const used = (end) => (cell) => sum(seated, cell, ({ room, seats }, k) => [(room.grid[end] ?? room.grid.people)[k] / 10, seats]);
  const hasEnds = seated.some(({ room }) => room.grid.low);
  return [
    seated.length && {
      name: "Seats used", ends: hasEnds ? ["people", "low", "high"] : ["people"], most: 1, value: (cell, end) => used(end)(cell), show: formatPercent, unit: "of the seats", known,
      interval: (cell) => (hasEnds ? formatRange(used("low")(cell), used("high")(cell), formatPercent) : ""),
    },
    { name: "Rooms in use", ends: ["people"], most: 1, value: (cell) => sum(rooms, cell, ({ room }, k) => [room.grid.in_use[k] / 100, 1]), show: formatPercent, unit: "of the rooms", interval: () => "", known },
  ].filter(Boolean);
}

const END_NAMES = { people: "Best estimate", low: "Lower end", high: "Upper end" };

/** A heat map with a choice of the measure and of the end of the interval. */
function heatMap(measures, tip, label) {
  let measure = measures[0], end = "people";
  const body = el("div", { class: "heat" }), scale = el("p", { class: "scale" });
  const names = choice(measures.map(({ name }) => name), "Measure", (name) => { measure = measures.find((one) => one.name === name); draw(); });
  const ends = choice(["people", "low", "high"].map((name) => END_NAMES[name]), "Interval of the count", (name) => {
    end = Object.keys(END_NAMES).find((key) => END_NAMES[key] === name);
    draw();
  });
  function draw() {
    const has = measure.ends.includes(end);
    ends.hidden = measure.ends.length < 2;
    body.replaceChildren(heatTable(measure, has ? end : "people", tip, `${label}: ${measure.name.toLowerCase()}`));
    scale.replaceChildren(el("span", {}, measure.show(0)), el("i"), el("span", {}, `${measure.show(measure.most)}${measure.unit === "people" ? " people" : ""}`),
      el("span", { class: "swatch none" }), el("span", {}, "no data"), el("span", {}, "Bold: opening hours."));
  }
  draw();
  return [el("div", { class: "controls" }, names, ends), body, scale];
}

function choice(names, label, onChange) {
  const group = el("div", { class: "choice", role: "group", "aria-label": label });
  group.hidden = names.length < 2;
  for (const [k, name] of names.entries()) {
    const button = el("button", { type: "button", "aria-pressed": String(k === 0) }, name);
    button.addEventListener("click", () => {
      for (const other of group.children) other.setAttribute("aria-pressed", String(other === button));
      onChange(name);
    });
    group.append(button);
  }
  return group;
}

const levelOf = (value, most) => Math.max(0, Math.min(LEVELS, Math.ceil(LEVELS * value / most - 1e-9)));

function heatTable({ value, show, most, unit, interval, known }, end, tip, label) {
  const head = el("tr", {}, el("th"));
  for (let hour = 0; hour < 24; hour++) {
    const open = WEEKDAYS.some((_, day) => IS_OPEN.has(24 * day + hour));
    head.append(el("th", { scope: "col", class: open ? "open" : "" }, String(hour)));
  }
  const rows = WEEKDAYS.map((name, day) => {
    const open = [...IS_OPEN].some((cell) => Math.floor(cell / 24) === day);
    const row = el("tr", {}, el("th", { scope: "row", class: open ? "open" : "" }, name));
    for (let hour = 0; hour < 24; hour++) {
      const cell = 24 * day + hour, number = value(cell, end);
      const td = el("td", { "data-cell": cell }, number === null ? "" : show(number).replace(/\s*%/, ""));
      if (number === null) td.className = "none";
      else {
        const level = levelOf(number, most);
        td.style.setProperty("--level", level);
        if (level >= 6) td.className = "dark";
      }
      row.append(td);
    }
    return row;
  });
  const columns = el("colgroup", {}, ...Array.from({ length: 25 }, () => el("col")));
  const table = el("table", { "aria-label": `${label}, by day of the week and hour` }, columns, el("thead", {}, head), el("tbody", {}, ...rows));
  table.addEventListener("pointermove", (event) => {
    const td = event.target.closest("td");
    if (!td) { tip.hide(); return; }
    const cell = Number(td.dataset.cell), hour = cell % 24, number = value(cell, end);
    const when = `${WEEKDAYS[Math.floor(cell / 24)]} ${hour}:00–${hour + 1}:00`;
    if (number === null) { tip.show(event, when, "no data"); return; }
    const range = interval(cell);
    tip.show(event, when, `${show(number)} ${unit}`, ...(range ? [`interval ${range}`] : []), `mean of ${formatUpTo(1)(known(cell))} h`);
  });
  table.addEventListener("pointerleave", tip.hide);
  return table;
}

/** A picture of the typical week of a room, one pixel per hour, for the cells of the table. */
function weekPicture() {
  const node = el("canvas", { width: 24, height: 7, "aria-hidden": "true" });
  const pen = node.getContext("2d");
  return {
    node,
    update(room) {
      if (DATA.rooms[room]) pen.putImageData(weekPixels(room), 0, 0);
      else pen.clearRect(0, 0, 24, 7);
    },
  };
}

const weekImages = new Map();  // by room, in the colours of the page

function weekPixels(room) {
  if (weekImages.has(room)) return weekImages.get(room);
  const { people } = DATA.rooms[room].grid, seats = numberOf("seats", room) ?? Math.max(1, ...people.map((value) => value / 10));
  const image = new ImageData(24, 7), [low, high] = heatColours();
  people.forEach((value, cell) => {
    if (value === null) return;
    const share = levelOf(value / 10, seats) / LEVELS;
    image.data.set([...low.map((from, k) => from + share * (high[k] - from)), 255], 4 * cell);
  });
  weekImages.set(room, image);
  return image;
}

/** The colours of an empty and a full hour, as red, green and blue. */
function heatColours() {
  const styles = getComputedStyle(document.documentElement);
  return ["--heat-low", "--heat"].map((name) => {
    const hex = styles.getPropertyValue(name).trim();
    return [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
  });
}

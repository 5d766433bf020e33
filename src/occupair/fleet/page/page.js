// The page: connects filters, table, details and figures with the view, and the view with the address.

const KIND_NAMES = { faulty: "Faulty sensor", check: "Sensor to check", failed: "Failed", fallback: "Fallback" };
const FIGURE_DELAY = 120;  // figures follow when typing pauses [ms]

let view = parseView("");
let shown = new Uint32Array(0);
let figureTimer = 0;

byId("rooms").hidden = false;
byId("figures").hidden = !DATA.numbers.nrmse.some((value) => value !== null);
fillChoices();
fillLegend();

const table = createTable({
  columns: COLUMNS,
  cellText,
  decorate: ({ name }) => (name === "trust" || name === "sensor" ? stateIcon() : null),
  onSort: (name) => change({ sort: view.sort === name ? `-${name}` : name }),
  onOpen: openRoom,
  onClose: closeRoom,
});
const details = createPanel({ title: roomName, content: detailParts, onClose: closeRoom, onStep: (by) => table.step(by) });
const figures = createFigures({
  onRange: (nrmse) => { change({ nrmse: nrmse === view.nrmse ? "" : nrmse }); if (view.nrmse) showTable(); },
  onOpen: (room) => { openRoom(room); showTable(); },
});

function fillChoices() {
  for (const name of CHOICES) {
    const select = byId(name), { words, codes } = DATA.classes[name];
    const counts = new Array(words.length).fill(0);
    for (const code of codes) counts[code]++;
    select.append(el("option", { value: "" }, "all"));
    if (name === "status") select.append(el("option", { value: HAS_MODEL }, `with a model (${formatCount(counts[0] + counts[1])})`));
    words.forEach((word, k) => {
      if (word) select.append(el("option", { value: word }, `${word} (${formatCount(counts[k])})`));
    });
    select.addEventListener("change", () => change({ [name]: select.value }));
  }
}

function fillLegend() {
  const present = new Set();
  DATA.numbers.nrmse.forEach((value, room) => { if (value !== null) present.add(classOf("trust", room)); });
  const swatch = (name) => svg("svg", { class: "swatch", viewBox: "0 0 34 14", "aria-hidden": "true" },
    svg("rect", { class: name, width: 14, height: 14 }),
    name === "good" ? svg("circle", { class: "dot good", cx: 26, cy: 7, r: 5 })
      : svg("path", { class: `dot ${name}`, d: { limited: "M21.5 2.5h9v9h-9z", poor: "M26 1.5l6 11h-12z", none: "M22 3l8 8M30 3l-8 8" }[name] }));
  byId("legend").append(...TRUST_WITH_ERROR.filter((name) => present.has(name)).map((name) => el("li", {}, swatch(name), name)));
}

/** Change parts of the view, and all that depends on it. */
function change(parts, { address = true } = {}) {
  view = { ...view, ...parts };
  shown = sortRooms(filterRooms(view), view.sort);
  table.show(shown, view.sort);
  showFilters();
  drawFiguresSoon();
  if (address) writeAddress(view, NO_VIEW);
}

function showFilters() {
  if (byId("query").value !== view.q) byId("query").value = view.q;
  for (const name of CHOICES) byId(name).value = view[name];
  const all = DATA.count, range = nrmseRange(view), group = groupOf(view);
  byId("found").textContent = shown.length === all ? `${formatCount(all)} ${all === 1 ? "room" : "rooms"}` : `${formatCount(shown.length)} of ${formatCount(all)} rooms`;
  const chips = [];
  if (group) chips.push(chip(`${KIND_NAMES[group.kind]}: ${group.label}`, { group: "" }));
  if (range) chips.push(chip(`nRMSE ${formatTwo(range.low)} ${range.high === Infinity ? "or more" : `to ${formatTwo(range.high)}`}`, { nrmse: "" }));
  byId("chips").replaceChildren(...chips);
  byId("clear").hidden = !isFiltered();
  byId("export").disabled = shown.length === 0;
  const note = byId("print-note");
  note.hidden = shown.length <= PRINTED_ROWS;
  note.textContent = `The first ${formatCount(PRINTED_ROWS)} of ${formatCount(shown.length)} rooms are printed.`;
}

function chip(text, without) {
  const button = el("button", { type: "button", "aria-label": `Remove filter: ${text}` }, "✕");
  button.addEventListener("click", () => { change(without); byId("query").focus(); });
  return el("li", {}, el("span", { dir: "auto", title: text }, text), button);
}

const isFiltered = () => ["q", "group", "nrmse", ...CHOICES].some((key) => view[key]);

function drawFigures() {
  if (byId("figures").hidden) return;
  const anyError = view.nrmse ? filterRooms(view, { anyError: true }) : shown;
  const without = anyError.reduce((count, room) => count + (numberOf("nrmse", room) === null), 0);
  const filtered = isFiltered();
  const rooms = `${formatCount(anyError.length)} ${anyError.length === 1 ? "room" : "rooms"}${filtered ? " that match the filters of the table" : ""}`;
  byId("figures-note").textContent = `${rooms}; ${formatCount(without)} without a measured error ${without === 1 ? "is" : "are"} not drawn.`;
  figures.draw({ anyError, rooms: shown, range: nrmseRange(view), filtered, open: DATA.room.indexOf(view.room) });
}

function drawFiguresSoon() {
  clearTimeout(figureTimer);
  figureTimer = setTimeout(drawFigures, FIGURE_DELAY);
}

function openRoom(room, { focus = false } = {}) {
  view.room = roomName(room);
  byId("split").classList.add("open");
  details.show(room);
  table.mark(room);
  if (focus || details.covers()) details.focus();
  drawFiguresSoon();
  writeAddress(view, NO_VIEW);
}

function closeRoom() {
  if (!view.room) return;
  const focus = details.holdsFocus();
  view.room = "";
  byId("split").classList.remove("open");
  details.hide();
  table.mark(-1);
  if (focus) table.focus();
  drawFiguresSoon();
  writeAddress(view, NO_VIEW);
}

function showTable() {
  byId("rooms").scrollIntoView();
  byId("rooms-heading").focus({ preventScroll: true });
}

function readAddress() {
  return followAddress({ parse: parseView, names: DATA.room, onClose: closeRoom, onChange: change, onOpen: openRoom });
}

byId("query").addEventListener("input", (event) => change({ q: event.target.value }));
byId("clear").addEventListener("click", () => { change({ ...NO_VIEW, sort: view.sort, room: view.room }); byId("query").focus(); });
byId("export").addEventListener("click", () => download("rooms.csv", roomsAsCsv(shown)));
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-view], [data-room]");
  if (!button) return;
  if (button.dataset.room !== undefined) {
    change({ ...NO_VIEW, sort: view.sort, room: view.room });
    openRoom(Number(button.dataset.room));
  } else {
    change({ ...parseView(button.dataset.view), sort: view.sort, room: view.room });
  }
  showTable();
});
window.addEventListener("hashchange", () => { if (readAddress()) showTable(); });
if (!readAddress()) change({}, { address: false });
else showTable();
setTimeout(searchable, 300);  // so that the first search is fast

// The page: one room as it is, or the table of rooms with filters and details.

const tip = createTip();
let view = parseView("");
let shown = new Uint32Array(0);
let table = null, panel = null;

window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { weekImages.clear(); if (table) { table.repaint(); } });
if (DATA.count === 1) showOneRoom();
else if (DATA.count) showAllRooms();

function showOneRoom() {
  const section = byId("room");
  section.hidden = false;
  section.append(el("h2", { class: "hidden" }, roomName(0)), ...detailParts(0, tip));
}

function showAllRooms() {
  byId("rooms").hidden = false;
  const week = byId("week");
  if (DATA.rooms.some(Boolean)) {
    week.hidden = false;
    byId("all-rooms").append(...heatMap(measuresOfAll(), tip, "All rooms"));
  }
  table = createTable({
    columns: COLUMNS,
    cellText,
    decorate: ({ kind }) => (kind === "week" ? weekPicture() : null),
    onSort: (name) => change({ sort: nextSort(name) }),
    onOpen: openRoom,
    onClose: closeRoom,
  });
  panel = createPanel({ title: roomName, content: (room) => detailParts(room, tip), onClose: closeRoom, onStep: (by) => table.step(by) });
  fillChoices();
  byId("query").addEventListener("input", (event) => change({ q: event.target.value }));
  byId("clear").addEventListener("click", () => { change({ ...NO_VIEW, sort: view.sort, room: view.room }); byId("query").focus(); });
  byId("export").addEventListener("click", () => download("rooms.csv", roomsAsCsv(shown)));
  document.addEventListener("click", onButton);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") closeRoom(); });
  window.addEventListener("hashchange", () => { if (readAddress()) showTable(); });
  if (!readAddress()) change({}, { address: false });
  else showTable();
}

/** Numbers sort from high to low first, as the busiest or worst rooms are of interest. */
function nextSort(name) {
  const [first, second] = ["number", "week"].includes(COLUMN[name].kind) ? [`-${name}`, name] : [name, `-${name}`];
  return view.sort === first ? second : first;
}

function fillChoices() {
  const floors = [...new Set(DATA.floor)].filter(Boolean).sort();
  byId("floor").append(el("option", { value: "" }, "all"), ...floors.map((floor) => el("option", { value: floor }, floor)));
  byId("floor").parentElement.hidden = !floors.length;
  byId("finding").append(el("option", { value: "" }, "all"),
    ...DATA.findings.map(({ key, title, rooms }) => el("option", { value: key }, `${title} (${formatCount(rooms.length)})`)));
  byId("finding").parentElement.hidden = !DATA.findings.length;
  for (const name of ["floor", "finding"]) byId(name).addEventListener("change", (event) => change({ [name]: event.target.value }));
}

/** Change parts of the view, and all that depends on it. */
function change(parts, { address = true } = {}) {
  view = { ...view, ...parts };
  shown = sortRooms(filterRooms(view), view.sort);
  table.show(shown, view.sort);
  if (byId("query").value !== view.q) byId("query").value = view.q;
  for (const name of ["floor", "finding"]) byId(name).value = view[name];
  byId("found").textContent = shown.length === DATA.count ? `${formatCount(DATA.count)} rooms` : `${formatCount(shown.length)} of ${formatCount(DATA.count)} rooms`;
  byId("clear").hidden = !(view.q || view.floor || view.finding);
  byId("export").disabled = shown.length === 0;
  if (address) writeAddress(view, NO_VIEW);
}

function openRoom(room, { focus = false } = {}) {
  view.room = roomName(room);
  document.body.classList.add("room-open");
  panel.show(room);
  table.mark(room);
  if (focus) panel.focus();
  writeAddress(view, NO_VIEW);
}

function closeRoom() {
  if (!view.room) return;
  view.room = "";
  document.body.classList.remove("room-open");
  const focus = panel.holdsFocus();
  panel.hide();
  tip.hide();
  table.mark(-1);
  if (focus) table.focus();
  writeAddress(view, NO_VIEW);
}

function onButton(event) {
  const button = event.target.closest("[data-view], [data-room]");
  if (!button) return;
  if (button.dataset.room !== undefined) openRoom(Number(button.dataset.room), { focus: true });
  else {
    change({ ...parseView(button.dataset.view), sort: view.sort, room: view.room });
    showTable();
  }
}

function showTable() {
  byId("rooms").scrollIntoView();
  byId("rooms-heading").focus({ preventScroll: true });
}

function readAddress() {
  return followAddress({ parse: parseView, names: DATA.name, onClose: closeRoom, onChange: change, onOpen: openRoom });
}

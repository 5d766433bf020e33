// A table of rooms. Only the rows in sight, and a few more, exist in the document.
// A column has name, label, unit, kind ("name", "note", "number" ...), width [rem] and help; `cellText(column, room)` is the
// text of a cell, and `decorate(column)` may add a node to its cells: { node, update(room, text) }.

const ROW_HEIGHT = Math.round(2.25 * parseFloat(getComputedStyle(document.documentElement).fontSize));  // [px]
const EXTRA_ROWS = 8;  // above and below those in sight
const PRINTED_ROWS = 1000;

function createTable({ columns, cellText, decorate = () => null, onSort, onOpen, onClose }) {
  const scroll = byId("scroll"), table = byId("table"), body = byId("body"), empty = byId("empty");
  const [above, below] = [...table.querySelectorAll(".spacer td")];
  const heads = new Map(), rows = [];
  let rooms = new Uint32Array(0), active = 0, open = -1, drawing = false, whole = false;

  document.documentElement.style.setProperty("--row", `${ROW_HEIGHT}px`);
  table.setAttribute("aria-colcount", columns.length);
  table.style.minWidth = `${columns.reduce((sum, { width }) => sum + width, 0)}rem`;
  for (const column of columns) {
    const col = el("col");
    if (column.kind !== "note") col.style.width = column.kind === "name" ? `min(${column.width}rem, 36vw)` : `${column.width}rem`;
    table.querySelector("colgroup").append(col);
    const unit = column.unit ? el("small", {}, column.unit) : "";
    const button = el("button", { type: "button", title: column.help }, el("span", {}, column.label), unit);
    button.addEventListener("click", () => onSort(column.name));
    const head = el("th", { scope: "col", class: column.kind }, button);
    heads.set(column.name, head);
    table.tHead.rows[0].append(head);
  }
  table.tHead.rows[0].setAttribute("aria-rowindex", 1);

  function makeRow() {
    const tr = el("tr");
    const cells = columns.map((column) => {
      const cell = column.kind === "name" ? el("th", { scope: "row" }) : el("td");
      cell.className = column.kind;
      const text = el("span", { dir: column.kind === "name" || column.kind === "note" ? "auto" : "ltr" });
      const extra = decorate(column);
      cell.append(...(extra ? [extra.node, text] : [text]));
      return { column, cell, text, extra };
    });
    tr.append(...cells.map(({ cell }) => cell));
    tr.addEventListener("click", () => { active = row.at; onOpen(rooms[row.at]); table.focus({ preventScroll: true }); });
    const row = { tr, cells, at: -1, room: -1 };
    return row;
  }

  function fill(row, at) {
    const room = rooms[at], { tr } = row;
    if (row.at !== at) {
      row.at = at;
      tr.id = `row-${at}`;
      tr.setAttribute("aria-rowindex", at + 2);
    }
    tr.classList.toggle("active", at === active);
    tr.setAttribute("aria-selected", String(room === open));
    if (row.room === room) return;
    row.room = room;
    for (const { column, cell, text, extra } of row.cells) {
      const value = cellText(column, room);
      if (extra) extra.update(room, value);
      if (text.textContent === value) continue;
      text.textContent = value;
      if (column.kind === "name" || column.kind === "note") cell.title = value;
    }
  }

  /** Move rows that scrolled out of sight to the other end, so that the others keep their content. */
  function rotate(first) {
    const shift = rows.length ? first - rows[0].at : 0;
    if (Math.abs(shift) >= rows.length) return;
    for (let k = 0; k < shift; k++) { rows.push(rows.shift()); body.append(rows.at(-1).tr); }
    for (let k = 0; k < -shift; k++) { rows.unshift(rows.pop()); body.prepend(rows[0].tr); }
  }

  function draw() {
    drawing = false;
    const height = scroll.clientHeight - table.tHead.offsetHeight;
    const top = Math.max(0, Math.floor(scroll.scrollTop / ROW_HEIGHT) - EXTRA_ROWS);
    const first = whole ? 0 : Math.min(top, Math.max(0, rooms.length - 1));
    const end = whole ? Math.min(rooms.length, PRINTED_ROWS)
      : Math.min(rooms.length, first + Math.ceil(Math.max(height, 0) / ROW_HEIGHT) + 2 * EXTRA_ROWS);
    while (rows.length < end - first) { rows.push(makeRow()); body.append(rows.at(-1).tr); }
    while (rows.length > end - first) rows.pop().tr.remove();
    rotate(first);
    rows.forEach((row, k) => fill(row, first + k));
    above.style.height = `${first * ROW_HEIGHT}px`;
    below.style.height = `${whole ? 0 : (rooms.length - end) * ROW_HEIGHT}px`;
    const shown = active >= first && active < end;
    if (shown) table.setAttribute("aria-activedescendant", `row-${active}`);
    else table.removeAttribute("aria-activedescendant");
  }

  const drawSoon = () => { if (!drawing) { drawing = true; requestAnimationFrame(draw); } };

  function reveal(at) {
    const height = scroll.clientHeight - table.tHead.offsetHeight;
    const top = at * ROW_HEIGHT;
    if (top < scroll.scrollTop) scroll.scrollTop = top;
    else if (top + ROW_HEIGHT > scroll.scrollTop + height) scroll.scrollTop = top + ROW_HEIGHT - height;
  }

  function move(to) {
    if (!rooms.length) return;
    active = Math.max(0, Math.min(rooms.length - 1, to));
    reveal(active);
    if (open >= 0) onOpen(rooms[active]);
    drawSoon();
  }

  table.addEventListener("keydown", (event) => {
    if (event.target !== table || event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor((scroll.clientHeight - table.tHead.offsetHeight) / ROW_HEIGHT) - 1);
    const targets = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: rooms.length - 1 };
    if (event.key in targets) move(targets[event.key]);
    else if (event.key === "ArrowRight" || event.key === "ArrowLeft") scroll.scrollLeft += event.key === "ArrowRight" ? 80 : -80;
    else if ((event.key === "Enter" || event.key === " ") && rooms.length) onOpen(rooms[active], { focus: true });
    else if (event.key === "Escape") onClose();
    else return;
    event.preventDefault();
  });
  scroll.addEventListener("scroll", drawSoon, { passive: true });
  new ResizeObserver(drawSoon).observe(scroll);
  window.addEventListener("beforeprint", () => { whole = true; draw(); });
  window.addEventListener("afterprint", () => { whole = false; draw(); });

  return {
    /** Show rooms in their order, from the first. */
    show(shown, sort) {
      rooms = shown;
      active = Math.max(0, rooms.indexOf(open));
      table.setAttribute("aria-rowcount", rooms.length + 1);
      empty.hidden = rooms.length > 0;
      const name = sort.replace(/^-/, "");
      for (const [key, head] of heads) head.setAttribute("aria-sort", key !== name ? "none" : sort === name ? "ascending" : "descending");
      scroll.scrollTop = 0;
      draw();
      if (open >= 0 && rooms[active] === open) reveal(active);
    },
    /** Mark the room whose details are open; -1 for none. */
    mark(room) {
      open = room;
      const at = rooms.indexOf(room);
      if (at >= 0) { active = at; reveal(at); }
      drawSoon();
    },
    step: (by) => move(active + by),
    /** Fill all cells again, after the colours of the page have changed. */
    repaint() { for (const row of rows) row.room = -1; draw(); },
    focus: () => table.focus({ preventScroll: true }),
  };
}

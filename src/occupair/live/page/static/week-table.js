// The table of a week: days in rows and hours in columns, or the other way round on a narrow page.

import { el } from "./dom.js";
import { formatInterval } from "./format.js";
import { heatLevel } from "./heat.js";
import { formatNumber, t } from "./i18n.js";
import { addDays, formatDay, formatNumericDay, formatShortDay, formatWeekday } from "./time-zones.js";

const NARROW = "(max-width: 52rem)";
const MINUTE = 60000;
const MOSTLY_UNKNOWN = 0.5; // an hour with less known time is marked

/** How much of an hour has passed [min]. */
const elapsedMinutes = (hour, now) => Math.min(hour.minutes, (now - Date.parse(hour.start)) / MINUTE);

/** Largest and mean occupancy, hours in use, and the known share of the time that has passed. */
export function summarise(hours, now) {
  const past = hours.filter((hour) => Date.parse(hour.start) <= now);
  const known = past.filter((hour) => hour.people !== null);
  const busiest = known.reduce((top, hour) => (top && top.peak >= hour.peak ? top : hour), null);
  const total = (list, value) => list.reduce((sum, hour) => sum + value(hour), 0);
  const minutes = total(known, (hour) => hour.known * hour.minutes);
  return {
    peak: busiest?.peak ?? null,
    peakAt: busiest?.start ?? "",
    mean: minutes ? total(known, (hour) => hour.people * hour.known * hour.minutes) / minutes : null,
    inUse: known.length ? total(known, (hour) => hour.in_use) / 60 : null,
    known: past.length ? Math.min(1, total(past, (hour) => hour.known * hour.minutes) / total(past, (hour) => elapsedMinutes(hour, now))) : 0,
  };
}

/** Hours by day and clock time. An hour that comes twice has the key "02+" the second time. */
function arrange(hours) {
  const days = new Map();
  for (const hour of hours) {
    const [day, clock] = [hour.start.slice(0, 10), hour.start.slice(11, 13)];
    if (!days.has(day)) days.set(day, new Map());
    const ofDay = days.get(day);
    ofDay.set(ofDay.has(clock) ? `${clock}+` : clock, hour);
  }
  return days;
}

export class WeekTable {
  /** `onCell(cell)` is called with the cell under the pointer or the focus, or null. */
  constructor(room, onCell) {
    this.room = room;
    this.onCell = onCell;
    this.active = null; // "2026-03-09/09" of the cell with the focus
    this.node = el("div", { class: "week-scroll" });
    this.media = matchMedia(NARROW);
    this.redraw = () => { if (this.hours) this.draw(); };
    this.media.addEventListener("change", this.redraw);
    this.node.addEventListener("keydown", (event) => this.onKey(event));
    this.node.addEventListener("pointerover", (event) => this.showCell(event.target.closest("td[data-key]")));
    this.node.addEventListener("pointerleave", () => this.showCell(this.focused()));
    this.node.addEventListener("focusin", (event) => this.onFocus(event.target.closest("td[data-key]")));
    this.node.addEventListener("focusout", () => this.onCell(null));
  }

  show(hours, { monday, top, now }) {
    if (this.monday !== monday) this.active = null;
    Object.assign(this, { hours, monday, top, now });
    this.draw();
  }

  draw() {
    const byDay = arrange(this.hours);
    const days = Array.from({ length: 7 }, (_, i) => addDays(this.monday, i));
    const clocks = [...new Set([...byDay.values()].flatMap((ofDay) => [...ofDay.keys()]))].sort();
    this.cells = new Map();
    for (const day of days) {
      for (const clock of clocks) this.cells.set(`${day}/${clock}`, this.createCell(day, clock, byDay.get(day)?.get(clock)));
    }
    const hadFocus = Boolean(this.focused());
    this.isNarrow = this.media.matches;
    const table = this.isNarrow ? this.drawNarrow(days, clocks, byDay) : this.drawWide(days, clocks, byDay);
    this.node.replaceChildren(table);
    if (!this.cells.get(this.active)?.hour) this.active = this.startCell();
    if (this.active) this.cells.get(this.active).node.tabIndex = 0;
    if (hadFocus) this.cells.get(this.active)?.node.focus({ preventScroll: true });
  }

  /** The cell that the keyboard enters first: the newest known hour, else the first. */
  startCell() {
    const keys = [...this.cells.keys()].filter((key) => this.cells.get(key).hour);
    return keys.filter((key) => this.cells.get(key).hour.known).at(-1) ?? keys[0] ?? null;
  }

  createCell(day, clock, hour) {
    const isFuture = Boolean(hour) && Date.parse(hour.start) > this.now;
    const cell = {
      key: `${day}/${clock}`, hour, isFuture, dayName: formatShortDay(day, this.monday),
      clock: `${clock.slice(0, 2)}:00${clock.endsWith("+") ? ` ${t("week.again")}` : ""}`,
    };
    const level = hour && !isFuture ? heatLevel(hour.people, this.top) : undefined;
    const text = level === undefined || level === null ? "" : formatNumber(Math.round(hour.people));
    cell.node = el("td", {
      "data-key": hour ? cell.key : null, tabindex: hour ? "-1" : null, "aria-label": this.describe(day, cell),
      "data-heat": level === null ? "unknown" : level ?? (hour ? "future" : "none"),
      "data-partial": hour && !isFuture && this.isPartial(hour) ? "yes" : null,
    }, text);
    return cell;
  }

  /** Whether most of an hour, as far as it has passed, is unknown. */
  isPartial(hour) {
    return hour.known > 0 && hour.known * hour.minutes < MOSTLY_UNKNOWN * elapsedMinutes(hour, this.now);
  }

  /** Text of an hour for screen readers. */
  describe(day, { hour, isFuture, clock }) {
    if (!hour) return t("week.noSuchHour");
    const start = `${formatDay(day)}, ${clock}`;
    if (isFuture) return `${start}: ${t("week.future")}`;
    if (hour.people === null) return `${start}: ${t("occupancy.unknown")}`;
    const interval = formatInterval(hour.low, hour.high);
    return [`${start}: ${t("today.mean", { people: formatNumber(hour.people, { maximumFractionDigits: 1 }) })}`,
      t("week.atMost", { people: formatNumber(Math.round(hour.peak)) }),
      interval && t("tile.interval", { interval }),
      t("week.minutesInUse", { minutes: Math.round(hour.in_use) }),
      hour.known < 0.995 ? t("week.knownShare", { percent: formatNumber(hour.known, { style: "percent" }) }) : "",
    ].filter(Boolean).join(", ");
  }

  dayHeader(day, scope) {
    const rest = this.isNarrow ? formatNumericDay(day) : formatShortDay(day, this.monday).replace(/^\S+ /, "");
    const link = el("a", { href: `#/room/${encodeURIComponent(this.room.room)}/${day}`, "aria-label": formatDay(day) });
    link.append(el("strong", {}, formatWeekday(day)), el("span", {}, rest));
    return el("th", { scope, class: "week-day" }, link);
  }

  sums(byDay, day) {
    const { peak, inUse } = summarise([...byDay.get(day)?.values() ?? []], this.now);
    return [peak === null ? "–" : formatNumber(Math.round(peak)),
      inUse === null ? "–" : formatNumber(inUse, { maximumFractionDigits: 1 })];
  }

  drawWide(days, clocks, byDay) {
    const hours = clocks.map((clock) => el("th", { scope: "col" }, clock));
    const names = [t("week.peak"), t("week.inUseHours")].map((name) => el("th", { scope: "col", class: "week-sum" }, name));
    const rows = days.map((day) => el("tr", {}, this.dayHeader(day, "row"),
      ...clocks.map((clock) => this.cells.get(`${day}/${clock}`).node),
      ...this.sums(byDay, day).map((text) => el("td", { class: "week-sum" }, text))));
    return this.table("wide", el("tr", {}, el("td", { class: "corner" }), ...hours, ...names), rows);
  }

  drawNarrow(days, clocks, byDay) {
    const rows = clocks.map((clock) => el("tr", {}, el("th", { scope: "row" }, clock),
      ...days.map((day) => this.cells.get(`${day}/${clock}`).node)));
    const sums = days.map((day) => this.sums(byDay, day));
    [t("week.peak"), t("week.inUseHours")].forEach((name, i) => rows.push(el("tr", { class: "week-sums" },
      el("th", { scope: "row" }, name), ...sums.map((texts) => el("td", { class: "week-sum" }, texts[i])))));
    return this.table("narrow", el("tr", {}, el("td", { class: "corner" }), ...days.map((day) => this.dayHeader(day, "col"))), rows);
  }

  table(kind, head, rows) {
    return el("table", { class: `week week-${kind}`, role: "grid", "aria-label": t("week.table", { name: this.room.name }) },
      el("thead", {}, head), el("tbody", {}, ...rows));
  }

  focused() {
    const node = document.activeElement;
    return node?.matches?.("td[data-key]") && this.node.contains(node) ? node : null;
  }

  showCell(node) {
    this.onCell(node ? this.cells.get(node.dataset.key) ?? null : null);
  }

  onFocus(node) {
    if (!node) return;
    const before = this.cells.get(this.active);
    if (before) before.node.tabIndex = -1;
    this.active = node.dataset.key;
    node.tabIndex = 0;
    this.showCell(node);
  }

  onKey(event) {
    const node = this.focused();
    const row = node?.parentElement;
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const cellsOf = (tr) => [...tr.querySelectorAll("td[data-key]")];
    const column = [...row.children].indexOf(node);
    const vertical = (step) => {
      for (let tr = step > 0 ? row.nextElementSibling : row.previousElementSibling; tr;
        tr = step > 0 ? tr.nextElementSibling : tr.previousElementSibling) {
        if (tr.children[column]?.dataset.key) return tr.children[column];
      }
      return null;
    };
    const at = cellsOf(row).indexOf(node);
    const to = {
      ArrowLeft: () => cellsOf(row)[at - 1], ArrowRight: () => cellsOf(row)[at + 1],
      ArrowUp: () => vertical(-1), ArrowDown: () => vertical(1),
      Home: () => cellsOf(row)[0], End: () => cellsOf(row).at(-1),
    }[event.key]?.();
    if (event.key === "Enter") location.hash = `#/room/${encodeURIComponent(this.room.room)}/${node.dataset.key.split("/")[0]}`;
    else if (to) to.focus();
    else if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    event.stopPropagation();
  }

  close() {
    this.media.removeEventListener("change", this.redraw);
  }
}

// The view of one room over a week: a table of days and hours, coloured by occupancy.

import { roomPath } from "./api.js";
import { byId, el, icon, setText, showError } from "./dom.js";
import { createLegend, heatTop } from "./heat.js";
import { request } from "./http.js";
import { formatNumber, t } from "./i18n.js";
import { backLink, createRoomHead, showNotFound } from "./room-head.js";
import * as rooms from "./room-store.js";
import { addDays, formatLongWeekday, formatShortDay, localDay, supportedZone } from "./time-zones.js";
import { createWeekReadout } from "./week-readout.js";
import { WeekTable, summarise } from "./week-table.js";

const REFRESH_INTERVAL = 60000; // of the current week [ms]

let open = null; // the WeekView that is shown

/** The Monday of the week of a day. */
const mondayOf = (day) => addDays(day, -((new Date(day).getUTCDay() + 6) % 7));

/** Show a room in the week of a day; null for this week. */
export function show(id, day) {
  const room = rooms.room(id);
  if (open?.room.room === id && room) {
    open.goTo(day);
    return;
  }
  close();
  if (!room) showNotFound(id);
  else open = new WeekView(room, day);
}

/** Path of a week in the address; this week has the short one. */
const weekHash = (id, monday, thisWeek) => (
  `#/room/${encodeURIComponent(id)}/week${monday === thisWeek ? "" : `/${monday}`}`);

class WeekView {
  constructor(room, day) {
    this.room = room;
    this.zone = supportedZone(room.timezone);
    this.loading = new AbortController();
    this.build();
    this.goTo(day);
    this.timer = setInterval(() => {
      if (!document.hidden && this.monday === this.thisWeek()) this.load();
    }, REFRESH_INTERVAL);
  }

  thisWeek() {
    return mondayOf(localDay(this.zone, rooms.now()));
  }

  build() {
    const { room } = this;
    const { node: head, title } = createRoomHead(room, "week");
    const link = (name, label) => el("a", { class: "icon-button", "aria-label": label, title: label }, icon(name));
    this.title = el("h2", { id: "week-title" });
    this.previous = link("left", t("week.previous"));
    this.next = link("right", t("week.next"));
    this.today = el("a", { class: "button small" }, t("week.this"));
    this.pick = el("input", { type: "date", class: "date", "aria-label": t("week.pick") });
    this.pick.addEventListener("change", () => {
      if (this.pick.value) location.hash = weekHash(room.room, mondayOf(this.pick.value), this.thisWeek());
    });
    this.download = el("a", { class: "button small", download: "" }, icon("down_tray"), t("export.csv"));
    const bar = el("div", { class: "day-bar" }, this.title,
      el("div", { class: "row tight" }, this.today, this.previous, this.pick, this.next));
    this.note = el("p", { class: "chart-note", role: "status" });
    this.facts = el("dl", { class: "week-facts" });
    this.readout = createWeekReadout();
    this.table = new WeekTable(room, (cell) => this.readout.show(cell));
    const foot = el("div", { class: "week-foot" }, createLegend({ hasCapacity: Boolean(room.capacity) }), this.download);
    const card = el("section", { class: "card week-card", "aria-labelledby": "week-title" },
      bar, this.facts, this.note, this.readout.node, this.table.node, foot);
    byId("room-view").replaceChildren(backLink(), head, card);
    document.title = `${room.name} · ${t("view.week")} · occupair`;
    window.scrollTo(0, 0);
    title.focus({ preventScroll: true });
  }

  goTo(day) {
    const { room, zone } = this;
    const thisWeek = this.thisWeek();
    const monday = mondayOf(day || thisWeek);
    const isThisWeek = monday === thisWeek;
    this.monday = monday;
    setText(this.title, this.weekName(monday, localDay(zone, rooms.now())));
    this.pick.value = monday;
    this.pick.max = localDay(zone, rooms.now());
    this.today.hidden = isThisWeek;
    this.today.href = weekHash(room.room, thisWeek, thisWeek);
    this.previous.href = weekHash(room.room, addDays(monday, -7), thisWeek);
    this.next.href = weekHash(room.room, addDays(monday, 7), thisWeek);
    this.next.toggleAttribute("inert", monday >= thisWeek);
    this.next.setAttribute("aria-disabled", monday >= thisWeek);
    this.download.href = `${roomPath(room.room, "/hours.csv")}?${this.period()}`;
    setText(this.note, t("day.loading"));
    this.load();
  }

  weekName(monday, today) {
    return `${formatShortDay(monday, today)} – ${formatShortDay(addDays(monday, 6), today)}`;
  }

  /** Query of the week, in local times of the room. */
  period() {
    return new URLSearchParams({ from: `${this.monday}T00:00`, to: `${addDays(this.monday, 7)}T00:00` });
  }

  async load() {
    this.loading.abort();
    this.loading = new AbortController();
    const { signal } = this.loading;
    try {
      const { hours } = await request("GET", `${roomPath(this.room.room, "/hours")}?${this.period()}`, { signal });
      if (signal.aborted) return;
      const top = heatTop(this.room, hours.map((hour) => hour.people));
      setText(this.note, hours.some((hour) => hour.known) ? "" : t("week.noReadings"));
      this.table.show(hours, { monday: this.monday, top, now: rooms.now() });
      this.showFacts(summarise(hours, rooms.now()));
    } catch (error) {
      if (signal.aborted) return;
      setText(this.note, t("week.failed"));
      showError(error);
    }
  }

  showFacts({ peak, peakAt, inUse, known, mean }) {
    const number = (value, digits = 1) => formatNumber(value, { maximumFractionDigits: digits });
    const fact = (name, value, detail = "") => el("div", {}, el("dt", {}, name), el("dd", {}, value,
      detail && el("span", { class: "fact-detail" }, detail)));
    const when = peakAt && `${formatLongWeekday(peakAt.slice(0, 10))} ${peakAt.slice(11, 16)}`;
    this.facts.replaceChildren(
      fact(t("week.peak"), peak === null ? "–" : formatNumber(Math.round(peak)), when),
      fact(t("week.mean"), mean === null ? "–" : number(mean)),
      fact(t("week.inUse"), inUse === null ? "–" : t("week.hours", { hours: number(inUse) })),
      fact(t("week.known"), formatNumber(known, { style: "percent" })));
  }

  close() {
    this.loading.abort();
    clearInterval(this.timer);
    this.table.close();
  }
}

export const isOpen = () => open !== null;
export const refresh = () => open?.load();

export function close() {
  if (!open) return;
  open.close();
  open = null;
  byId("room-view").replaceChildren();
}

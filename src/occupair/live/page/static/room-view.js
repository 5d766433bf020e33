// The view of one room: current state, chart of a day, head counts, training and models.

import { DayChart } from "./chart.js";
import { Day } from "./day.js";
import { byId, el, icon, setText, showError } from "./dom.js";
import { createHeadCountCard } from "./head-counts.js";
import { t } from "./i18n.js";
import { createModelsCard } from "./models.js";
import { createOutdoorAirCard } from "./outdoor-air.js";
import { createAirCard } from "./room-air.js";
import { backLink, createRoomHead, showNotFound } from "./room-head.js";
import * as rooms from "./room-store.js";
import { createStatusCard } from "./status-card.js";
import { addDays, formatDay, localDay, supportedZone } from "./time-zones.js";
import { createTrainingCard } from "./training.js";

const REFETCH_DELAY = 800; // many corrections cause one fetch [ms]
const AIR_DELAY = 8000; // a calibration takes seconds [ms]
const AGE_INTERVAL = 10000; // [ms]

let open = null; // the RoomView that is shown

export const isOpen = () => open !== null;

/** Create the selection of the day; `onSelect(day)` is called with null for today. */
function createDayBar(zone, onSelect) {
  let day = null;
  const button = (name, label, by) => el("button", {
    class: "icon-button", type: "button", "aria-label": label, title: label, onclick: () => onSelect(addDays(day, by)),
  }, icon(name));
  const title = el("h2", { id: "day-title" });
  const pick = el("input", { type: "date", class: "date", "aria-label": t("day") });
  const previous = button("left", t("day.previous"), -1);
  const next = button("right", t("day.next"), 1);
  const today = el("button", { class: "button small", type: "button", onclick: () => onSelect(null) }, t("day.today"));
  pick.addEventListener("change", () => { if (pick.value) onSelect(pick.value); });
  function show(given) {
    const newest = localDay(zone, rooms.now());
    day = given;
    setText(title, day === newest ? t("day.today") : formatDay(day));
    pick.value = day;
    pick.max = newest;
    next.disabled = day >= newest;
    today.hidden = day === newest;
  }
  const node = el("div", { class: "day-bar" }, title, el("div", { class: "row tight" }, today, previous, pick, next));
  return { node, show };
}

/** Show a room on a day; null for today, which moves on at midnight. */
export function show(id, day) {
  const room = rooms.room(id);
  if (open?.id === id && room) {
    open.goTo(day);
    return;
  }
  close();
  if (!room) showNotFound(id);
  else open = new RoomView(room, day);
}

class RoomView {
  constructor(room, day) {
    this.id = room.room;
    this.zone = supportedZone(room.timezone);
    this.day = null; // the Day in the chart
    this.labels = [];
    this.loading = new AbortController();
    this.build(room);
    this.stopListening = rooms.onChange((ids) => { if (ids.has(this.id) && rooms.room(this.id)) this.onState(); });
    this.ageTimer = setInterval(() => { if (rooms.room(this.id)) this.status.update(rooms.room(this.id)); }, AGE_INTERVAL);
    this.goTo(day);
    for (const card of [this.headCounts, this.air, this.models, this.training]) card.load().catch(showError);
  }

  build(room) {
    const { id, zone } = this;
    const { node: head, title } = createRoomHead(room, "day");
    const chartCard = el("section", { class: "card chart-card", "aria-labelledby": "day-title" });
    this.note = el("p", { class: "chart-note", role: "status" });
    this.status = createStatusCard(room);
    this.dayBar = createDayBar(zone, (day) => this.navigate(day));
    chartCard.append(this.dayBar.node, this.note);
    this.chart = new DayChart(chartCard, rooms.now);
    this.headCounts = createHeadCountCard(id, zone, (labels) => this.onLabels(labels));
    this.outdoorAir = createOutdoorAirCard(room);
    this.air = createAirCard(id);
    this.training = createTrainingCard(id, () => { this.models.load().catch(() => {}); this.refetch(); });
    this.models = createModelsCard(id, zone, () => this.onModelChange());
    const cards = [this.status.node, chartCard, this.headCounts.node, this.outdoorAir.node, this.air.node, this.training.node, this.models.node];
    byId("room-view").replaceChildren(backLink(), head, el("div", { class: "room-grid" }, ...cards));
    document.title = `${room.name} · occupair`;
    window.scrollTo(0, 0);
    title.focus({ preventScroll: true });
  }

  /** Change the address to a day, so the back button works. */
  navigate(day) {
    const isPast = day && day !== localDay(this.zone, rooms.now());
    location.hash = `#/room/${encodeURIComponent(this.id)}${isPast ? `/${day}` : ""}`;
  }

  goTo(wanted) {
    const day = wanted || localDay(this.zone, rooms.now());
    this.wantedDay = wanted; // null: today
    this.dayBar.show(day);
    setText(this.note, this.day?.day === day ? "" : t("day.loading"));
    this.load(new Day(this.id, this.zone, day));
  }

  async load(day) {
    this.loading.abort();
    this.loading = new AbortController();
    const { signal } = this.loading;
    try {
      await day.load(signal);
      if (signal.aborted) return;
      day.labels = this.labels;
      this.day = day;
      setText(this.note, day.estimates.length ? "" : t("day.noReadings"));
      this.chart.show(day);
    } catch (error) {
      if (signal.aborted) return;
      setText(this.note, t("day.failed"));
      showError(error);
    }
  }

  /** Fetch the day again after a short delay. */
  refetch() {
    if (this.timer || !this.day) return;
    this.timer = setTimeout(() => { this.timer = 0; this.load(this.day); }, REFETCH_DELAY);
  }

  /** Handle a new state: append it to the day, fetch corrections, or move on to the next day. */
  onState() {
    const room = rooms.room(this.id);
    this.status.update(room);
    this.outdoorAir.update(room);
    if (room.state?.quality !== this.quality) {
      this.quality = room.state?.quality; // "untrained" until the first calibration
      this.air.load().catch(() => {});
    }
    if (!this.day || !room.state) return;
    if (!this.wantedDay && room.at && localDay(this.zone, rooms.now()) !== this.day.day) { // also back, in a replay
      this.goTo(null);
      return;
    }
    const change = this.day.addState(room.state);
    if (change !== "unchanged") {
      setText(this.note, "");
      this.chart.show(this.day);
    }
    if (change === "outdated") this.refetch();
  }

  onLabels(labels) {
    this.labels = labels;
    this.reloadAir();
    if (!this.day) return;
    this.day.labels = labels;
    this.chart.show(this.day);
  }

  /** Fetch the air again once a changed head count has had time to take effect. */
  reloadAir() {
    clearTimeout(this.airTimer);
    this.airTimer = setTimeout(() => this.air.load().catch(() => {}), AIR_DELAY);
  }

  onModelChange() {
    this.air.load().catch(() => {});
    this.headCounts.load().catch(() => {});
    this.training.load();
    this.refetch();
  }

  close() {
    this.loading.abort();
    this.stopListening();
    clearTimeout(this.timer);
    clearTimeout(this.airTimer);
    clearInterval(this.ageTimer);
    this.training.close();
    this.chart.close();
  }
}

export function close() {
  if (!open) return;
  open.close();
  open = null;
  byId("room-view").replaceChildren();
}

/** Fetch what was missed while the connection was lost. */
export const refresh = () => open?.refetch();
export const redraw = () => open?.chart.scheduleDraw();
export const focusHeadCount = () => open?.headCounts.focus();

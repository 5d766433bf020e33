// One room: how many are in, its day, and what people can teach it.

import { DayChart } from "./chart.js";
import { Day } from "./day.js";
import { byId, el, icon, say, toast } from "./dom.js";
import { heroCard } from "./hero.js";
import { labelsCard } from "./labels.js";
import { modelsCard } from "./models.js";
import * as rooms from "./rooms.js";
import { trainingCard } from "./training.js";
import { addDays, dayText, knownZone, localDay } from "./zones.js";

const CORRECTED = 800; // many corrections are one fetch [ms]

let open = null; // the view that is shown

export const isOpen = () => open !== null;

/** Which day, and the way to others; `go(day)` with null for today. */
function dayBar(zone, go) {
  let day = null;
  const button = (name, label, by) => el("button", {
    class: "icon-button", type: "button", "aria-label": label, title: label, onclick: () => go(addDays(day, by)),
  }, icon(name));
  const title = el("h2", { id: "day-title" });
  const pick = el("input", { type: "date", class: "date", "aria-label": "Day" });
  const before = button("left", "The day before", -1);
  const after = button("right", "The day after", 1);
  const today = el("button", { class: "button small", type: "button", onclick: () => go(null) }, "Today");
  pick.addEventListener("change", () => { if (pick.value) go(pick.value); });
  function show(given) {
    const newest = localDay(zone, rooms.now());
    day = given;
    say(title, day === newest ? "Today" : dayText(day));
    pick.value = day;
    pick.max = newest;
    after.disabled = day >= newest;
    today.hidden = day === newest;
  }
  const node = el("div", { class: "day-bar" }, title, el("div", { class: "row tight" }, today, before, pick, after));
  return { node, show };
}

const backLink = () => el("a", { class: "back", href: "#/" }, icon("back"), "All rooms");

function missing(id) {
  const text = el("p", {}, `There is no room called ${id} here.`);
  byId("room-view").replaceChildren(backLink(), el("div", { class: "empty" }, el("h1", {}, "No such room"), text));
}

/** Show a room on a day (null: today, and on to the next at midnight). */
export function show(id, day) {
  const room = rooms.room(id);
  if (open?.id === id && room) {
    open.goTo(day);
    return;
  }
  close();
  if (!room) missing(id);
  else open = new RoomView(room, day);
}

class RoomView {
  constructor(room, day) {
    this.id = room.room;
    this.zone = knownZone(room.timezone);
    this.day = null; // the Day that is drawn
    this.labels = [];
    this.loading = new AbortController();
    this.build(room);
    this.stopListening = rooms.onChange((ids) => { if (ids.has(this.id) && rooms.room(this.id)) this.changed(); });
    this.ticking = setInterval(() => { if (rooms.room(this.id)) this.hero.show(rooms.room(this.id)); }, 10000);
    this.goTo(day);
    for (const card of [this.labelling, this.models, this.training]) {
      card.load().catch((failed) => toast(failed.message, { bad: true }));
    }
  }

  build(room) {
    const { id, zone } = this;
    const title = el("h1", { tabindex: "-1" }, room.name);
    const chartCard = el("section", { class: "card chart-card", "aria-labelledby": "day-title" });
    this.note = el("p", { class: "chart-note", role: "status" });
    this.hero = heroCard(room);
    this.bar = dayBar(zone, (day) => this.address(day));
    chartCard.append(this.bar.node, this.note);
    this.chart = new DayChart(chartCard, rooms.now);
    this.labelling = labelsCard(id, zone, (labels) => this.labelled(labels));
    this.training = trainingCard(id, () => { this.models.load().catch(() => {}); this.refetch(); });
    this.models = modelsCard(id, zone, () => this.relearned());
    const cards = [this.hero.node, chartCard, this.labelling.node, this.training.node, this.models.node];
    const floor = room.floor ? el("p", { class: "muted" }, room.floor) : null;
    byId("room-view").replaceChildren(
      backLink(), el("header", { class: "room-head" }, title, floor), el("div", { class: "room-grid" }, ...cards));
    document.title = `${room.name} · occupair`;
    window.scrollTo(0, 0);
    title.focus({ preventScroll: true });
  }

  /** Go to a day by its address, so that the back button comes back from it. */
  address(day) {
    const isPast = day && day !== localDay(this.zone, rooms.now());
    location.hash = `#/room/${encodeURIComponent(this.id)}${isPast ? `/${day}` : ""}`;
  }

  goTo(wanted) {
    const day = wanted || localDay(this.zone, rooms.now());
    this.wanted = wanted;
    this.bar.show(day);
    say(this.note, this.day?.day === day ? "" : "Fetching the day");
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
      say(this.note, day.estimates.length ? "" : "No readings on this day.");
      this.chart.show(day);
    } catch (failed) {
      if (signal.aborted) return;
      say(this.note, "The day could not be fetched.");
      toast(failed.message, { bad: true });
    }
  }

  /** Fetch the day again soon. */
  refetch() {
    if (this.timer || !this.day) return;
    this.timer = setTimeout(() => { this.timer = 0; this.load(this.day); }, CORRECTED);
  }

  /** A state came: the day goes on, was corrected, or is over. */
  changed() {
    const room = rooms.room(this.id);
    this.hero.show(room);
    this.labelling.follow(room.state);
    if (!this.day || !room.state) return;
    if (!this.wanted && room.at && localDay(this.zone, room.at) > this.day.day) {
      this.goTo(null);
      return;
    }
    const fate = this.day.take(room.state);
    if (fate !== "same") {
      say(this.note, "");
      this.chart.show(this.day);
    }
    if (fate === "fetch") this.refetch();
  }

  labelled(labels) {
    this.labels = labels;
    if (!this.day) return;
    this.day.labels = labels;
    this.chart.show(this.day);
  }

  relearned() {
    this.labelling.load().catch(() => {});
    this.training.load();
    this.refetch();
  }

  close() {
    this.loading.abort();
    this.stopListening();
    clearTimeout(this.timer);
    clearInterval(this.ticking);
    this.training.close();
    this.chart.close();
  }
}

export function close() {
  open?.close();
  open = null;
  byId("room-view").replaceChildren();
}

/** After a lost connection the day may have gone on without us. */
export const refresh = () => open?.refetch();
export const redraw = () => open?.chart.later();
export const focusCount = () => open?.labelling.focus();

// Head counts entered by people. They are stored as labels, on which the room's model can be trained.

import { roomPath } from "./api.js";
import { el, icon, setText, showError, toast } from "./dom.js";
import { formatPeople } from "./format.js";
import { request } from "./http.js";
import { t } from "./i18n.js";
import * as rooms from "./room-store.js";
import { formatShortDay, formatTime, localDay } from "./time-zones.js";

const SHORT_LIST = 5; // head counts listed at first
const MAX_PEOPLE = 10000; // [people]

const isValidCount = (text) => /^\d+$/.test(text) && Number(text) <= MAX_PEOPLE;

/**
 * Create the number field with its − and + buttons; `onSubmit(count)` saves and returns whether it succeeded.
 *
 * The field starts empty: filled with the estimate, one tap would store the model's own number as a head count.
 */
function createStepper(onSubmit) {
  const input = el("input", {
    id: "head-count", class: "stepper-value", type: "number", inputmode: "numeric", placeholder: "–",
    min: "0", max: String(MAX_PEOPLE), step: "1",
  });
  const stepBy = (step) => {
    const value = (Math.round(Number(input.value)) || 0) + step;
    input.value = String(Math.min(MAX_PEOPLE, Math.max(0, value)));
  };
  const stepButton = (step, label, name) => el("button", {
    class: "step", type: "button", "aria-label": label, onclick: () => stepBy(step),
  }, icon(name));
  const save = el("button", { class: "button primary", type: "submit" }, t("headCount.save"));
  const form = el("form", { class: "stepper needs-write", novalidate: true },
    stepButton(-1, t("headCount.fewer"), "minus"), input, stepButton(1, t("headCount.more"), "plus"), save);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!isValidCount(input.value)) {
      toast(t("headCount.invalid"), { isError: true });
      input.focus();
      return;
    }
    save.disabled = true;
    if (await onSubmit(Number(input.value))) input.value = "";
    save.disabled = false;
  });
  return { form, input };
}

/** Create the card; `onChange(labels)` is called whenever the list changes. */
export function createHeadCountCard(id, zone, onChange) {
  let labels = []; // newest first
  let isExpanded = false;
  const { form, input } = createStepper((count) => add(count));
  const list = el("ul", { class: "labels", "aria-label": t("headCount.list") });
  const more = el("button", { class: "button text", type: "button", hidden: true });
  const empty = el("p", { class: "muted" }, t("headCount.none"));
  const hint = el("p", { class: "muted needs-write" }, t("headCount.hint"));
  const title = el("h2", {}, el("label", { for: "head-count" }, t("headCount.title")));
  const node = el("section", { class: "card", id: "labels-card" }, title, hint, form, empty, list, more);
  more.addEventListener("click", () => { isExpanded = !isExpanded; show(); });

  function formatMoment(time) {
    const day = localDay(zone, time);
    const today = localDay(zone, rooms.now());
    const dayName = day === today ? t("headCount.today") : formatShortDay(day, today);
    return `${dayName} ${formatTime(zone, time)}`;
  }

  const describe = (label) => `${formatPeople(label.people)}, ${formatMoment(Date.parse(label.time))}`;

  /** Whether a head count only confirms the estimate, or happens to equal it. */
  function noteOn({ source, people, estimate }) {
    if (source === "confirmed") return el("span", { class: "label-note" }, t("headCount.confirmed"));
    return people === estimate ? el("span", { class: "label-note" }, t("headCount.equalsEstimate")) : null;
  }

  function createItem(label) {
    const button = el("button", {
      class: "icon-button needs-write", type: "button", onclick: () => remove(label),
      "aria-label": t("headCount.delete", { label: describe(label) }),
    }, icon("remove"));
    const time = el("time", { datetime: label.time }, formatMoment(label.at));
    return el("li", {}, el("strong", {}, formatPeople(label.people)), noteOn(label), time, button);
  }

  function show() {
    empty.hidden = labels.length > 0;
    list.replaceChildren(...(isExpanded ? labels : labels.slice(0, SHORT_LIST)).map(createItem));
    more.hidden = labels.length <= SHORT_LIST;
    setText(more, isExpanded ? t("headCount.showFewer") : t("headCount.showAll", { count: labels.length }));
    onChange(labels);
  }

  async function load() {
    const response = await request("GET", roomPath(id, "/labels"));
    labels = response.labels.map((label) => ({ ...label, at: Date.parse(label.time) })).sort((a, b) => b.at - a.at);
    show();
  }

  /** Send a change, load the list again, report the result and return whether it succeeded. */
  async function change(send, report) {
    try {
      const response = await send();
      await load();
      report(response);
      return true;
    } catch (error) {
      showError(error);
      return false;
    }
  }

  const post = (json) => request("POST", roomPath(id, "/labels"), { json });
  const drop = ({ time }) => request("DELETE", `${roomPath(id, "/labels")}?${new URLSearchParams({ time })}`);
  const undoAction = (send) => [t("headCount.undo"), () => change(send, () => toast(t("headCount.undone")))];

  function add(count) {
    return change(() => post({ people: count, source: "typed" }), (label) => {
      toast(t("headCount.saved", { label: describe(label) }), { action: undoAction(() => drop(label)) });
    });
  }

  function remove(label) {
    const { people, time, source, estimate } = label;
    const restore = () => post({ people, time, source, estimate });
    const text = t("headCount.deleted", { label: describe(label) });
    return change(() => drop(label), () => toast(text, { action: undoAction(restore) }));
  }

  return { node, load, focus: () => { input.focus(); input.select(); } };
}

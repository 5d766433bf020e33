// "How many are you?": a person's count, kept as a label to learn from.

import { roomPath } from "./api.js";
import { ask } from "./http.js";
import { el, icon, say, toast } from "./dom.js";
import * as rooms from "./rooms.js";
import { people } from "./words.js";
import { clockText, dayText, localDay } from "./zones.js";

const FEW = 5; // labels shown at first
const MOST = 10000; // people; more is a slip of the finger

const isCount = (text) => /^\d+$/.test(text) && Number(text) <= MOST;

/** The number and its − and +, and `submitted(number)`. */
function stepper(submitted) {
  const input = el("input", {
    id: "how-many", class: "stepper-value", type: "number", inputmode: "numeric", placeholder: "–",
    min: "0", max: String(MOST), step: "1",
  });
  const step = (by, label, name) => el("button", {
    class: "step", type: "button", "aria-label": label,
    onclick: () => { input.value = String(Math.min(MOST, Math.max(0, (Math.round(Number(input.value)) || 0) + by))); },
  }, icon(name));
  const save = el("button", { class: "button primary", type: "submit" }, "Save");
  const form = el("form", { class: "stepper needs-write", novalidate: true },
    step(-1, "One fewer", "minus"), input, step(1, "One more", "plus"), save);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!isCount(input.value)) {
      toast("Enter a whole number of people, 0 or more.", { bad: true });
      input.focus();
      return;
    }
    save.disabled = true;
    await submitted(Number(input.value));
    save.disabled = false;
  });
  return { form, input };
}

/** The card; `changed(labels)` is told whenever the labels are. */
export function labelsCard(id, zone, changed) {
  let labels = []; // newest first
  let isAll = false;
  const { form, input } = stepper((number) => add(number));
  const list = el("ul", { class: "labels", "aria-label": "Saved counts" });
  const more = el("button", { class: "button text", type: "button", hidden: true });
  const none = el("p", { class: "muted" }, "Nothing saved yet. Counts that people enter teach this room.");
  const hint = el("p", { class: "muted needs-write" }, "Count the people in the room right now, yourself included.");
  const title = el("h2", {}, el("label", { for: "how-many" }, "How many are you?"));
  const node = el("section", { class: "card", id: "labels-card" }, title, hint, form, none, list, more);
  more.addEventListener("click", () => { isAll = !isAll; show(); });

  function when(label) {
    const day = localDay(zone, label.at);
    return `${day === localDay(zone, rooms.now()) ? "today" : dayText(day, "short")} ${clockText(zone, label.at)}`;
  }

  function row(label) {
    const cross = el("button", {
      class: "icon-button needs-write", type: "button", onclick: () => remove(label),
      "aria-label": `Delete ${people(label.people)}, ${when(label)}`,
    }, icon("remove"));
    const time = el("time", { datetime: label.time }, when(label));
    return el("li", {}, el("strong", {}, people(label.people)), time, cross);
  }

  function show() {
    none.hidden = labels.length > 0;
    list.replaceChildren(...(isAll ? labels : labels.slice(0, FEW)).map(row));
    more.hidden = labels.length <= FEW;
    say(more, isAll ? "Show fewer" : `Show all ${labels.length}`);
    changed(labels);
  }

  async function load() {
    const answer = await ask("GET", roomPath(id, "/labels"));
    labels = answer.labels.map((label) => ({ ...label, at: Date.parse(label.time) })).sort((a, b) => b.at - a.at);
    show();
  }

  /** Do something to the labels, then say so, or why not. */
  async function change(doing, said) {
    try {
      const answer = await doing();
      await load();
      said(answer);
    } catch (failed) {
      toast(failed.message, { bad: true });
    }
  }

  const send = (json) => ask("POST", roomPath(id, "/labels"), { json });
  const drop = (label) => ask("DELETE", `${roomPath(id, "/labels")}?${new URLSearchParams({ time: label.time })}`);
  const takeBack = (doing) => ["Undo", () => change(doing, () => toast("Taken back."))];

  function add(number) {
    return change(() => send({ people: number }), (label) => {
      const text = `${people(label.people)}, ${when({ at: Date.parse(label.time) })}`;
      toast(`Saved: ${text}.`, { action: takeBack(() => drop(label)) });
    });
  }

  function remove(label) {
    const again = { people: label.people, time: label.time };
    const text = `Deleted: ${people(label.people)}, ${when(label)}.`;
    return change(() => drop(label), () => toast(text, { action: takeBack(() => send(again)) }));
  }

  /** The number follows the room's count until a person touches it; what is not known is empty. */
  let isTouched = false;
  function follow(state) {
    if (!isTouched) input.value = Number.isInteger(state?.people) ? String(state.people) : "";
  }
  for (const kind of ["focusin", "click", "input"]) form.addEventListener(kind, () => { isTouched = true; });
  follow(rooms.room(id)?.state);
  return { node, load, follow, focus: () => { input.focus(); input.select(); } };
}

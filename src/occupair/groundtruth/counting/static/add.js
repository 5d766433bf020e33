// Adding a minute that the scan missed: its door, its day and its time.

import { book, here, press } from "./book.js";
import { byId, el, say, toast } from "./dom.js";
import { dateOf } from "./show.js";

/** Ask which minute; the door and the day are those of the minute that is shown. */
export function openAdd() {
  const shown = here() ?? book.minutes.at(-1);
  fill("add-door", book.doors.map((door) => [door, door]), shown.door);
  fill("add-day", book.days.map((day) => [day, dateOf({ minute: day })]), shown.minute.slice(0, 10));
  byId("add-time").value = "";
  say(byId("add-wrong"), "");
  byId("add").showModal();
  byId("add-time").focus();
}

function fill(id, choices, chosen) {
  byId(id).replaceChildren(...choices.map(([value, words]) => el("option", { value }, words)));
  byId(id).value = chosen;
  byId(id).closest("label").hidden = choices.length === 1;
}

/** Read 8:47, 08:47, 8.47 or 847; null: it is no time of day. */
export function readTime(text) {
  const [, hour, minute] = /^\s*(\d{1,2})\s*[:.h]?\s*(\d{2})\s*$/.exec(text) ?? [];
  return hour === undefined || hour > 23 || minute > 59 ? null : `${hour.padStart(2, "0")}:${minute}`;
}

function add(event) {
  event.preventDefault();
  const time = readTime(byId("add-time").value);
  if (time === null) {
    say(byId("add-wrong"), "Give the time as hours and minutes, such as 08:47.");
    byId("add-time").select();
    return;
  }
  const [door, minute] = [byId("add-door").value, `${byId("add-day").value}T${time}`];
  if (book.minutes.some((row) => row.door === door && row.minute.startsWith(minute))) toast(`${door} ${time} is in the list already.`);
  press({ do: "add", door, minute }, { bound: false });
  byId("add").close();
}

export function startAdd() {
  byId("add-form").addEventListener("submit", add);
  byId("add-cancel").addEventListener("click", () => byId("add").close());
}

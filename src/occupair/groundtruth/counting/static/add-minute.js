// The dialog that adds a minute which the scan missed.

import { byId, el, setText, toast } from "./dom.js";
import { t } from "./i18n.js";
import { currentMinute, enqueue, sendAction, session } from "./session.js";
import { formatDate } from "./view.js";

/** Open the dialog, with the door and day of the current minute selected. */
export function openAddDialog() {
  const shown = currentMinute() ?? session.minutes.at(-1);
  setOptions("add-door", session.doors.map((door) => [door, door]), shown.door);
  setOptions("add-day", session.days.map((day) => [day, formatDate({ minute: day })]), shown.minute.slice(0, 10));
  byId("add-time").value = "";
  setText(byId("add-error"), "");
  byId("add").showModal();
  byId("add-time").focus();
}

function setOptions(id, options, selected) {
  byId(id).replaceChildren(...options.map(([value, text]) => el("option", { value }, text)));
  byId(id).value = selected;
  byId(id).closest("label").hidden = options.length === 1;
}

/** Parse 8:47, 08:47, 8.47 or 847; null if it is not a time of day. */
export function parseTime(text) {
  const [, hour, minute] = /^\s*(\d{1,2})\s*[:.h]?\s*(\d{2})\s*$/.exec(text) ?? [];
  return hour === undefined || hour > 23 || minute > 59 ? null : `${hour.padStart(2, "0")}:${minute}`;
}

function addMinute(event) {
  event.preventDefault();
  const time = parseTime(byId("add-time").value);
  if (time === null) {
    setText(byId("add-error"), t("add.invalidTime"));
    byId("add-time").select();
    return;
  }
  const [door, minute] = [byId("add-door").value, `${byId("add-day").value}T${time}`];
  const exists = session.minutes.some((one) => one.door === door && one.minute.startsWith(minute));
  if (exists) toast(t("add.exists", { door, time }));
  enqueue(() => sendAction({ do: "add", door, minute }, { forMinute: false }));
  byId("add").close();
}

export function startAddDialog() {
  byId("add-form").addEventListener("submit", addMinute);
  byId("add-cancel").addEventListener("click", () => byId("add").close());
}

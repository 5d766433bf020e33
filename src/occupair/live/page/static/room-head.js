// The top of the views of a room: the way back, its name, and the choice of day or week.

import { byId, el, icon } from "./dom.js";
import { t } from "./i18n.js";

export const backLink = () => el("a", { class: "back", href: "#/" }, icon("back"), t("rooms.all"));

/** Create the head of a room; `view` is "day" or "week". Returns it with its title, which takes the focus. */
export function createRoomHead(room, view) {
  const path = `#/room/${encodeURIComponent(room.room)}`;
  const tab = (name, href, text) => el("a", { href, "aria-current": view === name ? "page" : null }, text);
  const title = el("h1", { tabindex: "-1" }, room.name);
  const floor = room.floor ? el("p", { class: "muted" }, room.floor) : null;
  const tabs = el("nav", { class: "tabs", "aria-label": t("view.period") },
    tab("day", path, t("view.day")), tab("week", `${path}/week`, t("view.week")));
  return { node: el("header", { class: "room-head" }, title, floor, tabs), title };
}

export function showNotFound(id) {
  const text = el("p", {}, t("room.notFound.text", { id }));
  const title = el("h1", {}, t("room.notFound"));
  byId("room-view").replaceChildren(backLink(), el("div", { class: "empty" }, title, text));
}

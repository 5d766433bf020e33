// Elements, icons, toasts and dialogs. Text is set as text; nothing here parses HTML.

import { t } from "./i18n.js";

/** Create an element: `el("p", {class: "x", onclick: f}, "text", child)`. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export const byId = (id) => document.getElementById(id);

/** Set a text only if it differs, so an unchanged page causes no layout and no screen reader output. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

const PATHS = {
  ok: "M5 12.5l4.5 4.5L19 7.5",
  starting: "M12 7v5l3.5 2M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z",
  stale: "M4 4l16 16M8.5 15.5a5 5 0 0 1 5-1.4M5.5 12.5a9 9 0 0 1 4-2.3M14.5 10.2a9 9 0 0 1 4 2.3M12 19h.01",
  suspect: "M12 9.5v4.5M12 17.2h.01"
    + "M10.6 4.6 2.9 18a1.6 1.6 0 0 0 1.4 2.4h15.4a1.6 1.6 0 0 0 1.4-2.4L13.4 4.6a1.6 1.6 0 0 0-2.8 0z",
  untrained: "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z"
    + "M9.6 9.5a2.5 2.5 0 1 1 3.4 2.6c-.7.3-1 .8-1 1.6M12 16.8h.01",
  up: "M6 18 18 6M8.5 6H18v9.5",
  down: "M6 6l12 12M18 8.5V18H8.5",
  level: "M5 12h14",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5 20 20",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2"
    + "M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4",
  moon: "M20 14.2A8.3 8.3 0 0 1 9.8 4a8.3 8.3 0 1 0 10.2 10.2z",
  system: "M3.5 5h17v11h-17zM9 20h6M12 16v4",
  keys: "M2.5 6.5h19v11h-19zM6 10h.01M10 10h.01M14 10h.01M18 10h.01M8 14h8",
  back: "M19 12H5M11 6l-6 6 6 6",
  left: "M14.5 6l-6 6 6 6",
  right: "M9.5 6l6 6-6 6",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  undo: "M9 7 4.5 11.5 9 16M5 11.5h9a5 5 0 0 1 0 10h-2",
  enlarge: "M14 4h6v6M20 4l-7 7M10 20H4v-6M4 20l7-7",
  leave: "M10 4H5v16h5M15 8l4 4-4 4M19 12H9.5",
  remove: "M6 6l12 12M18 6 6 18",
  down_tray: "M12 4v11M7 10.5l5 5 5-5M4.5 20h15",
  up_tray: "M12 16V5M7 9.5l5-5 5 5M4.5 20h15",
};

/** Create an icon in the text colour, hidden from screen readers. */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/** Set the icon of an element; an empty name removes it. */
export function setIcon(node, name) {
  if (node.dataset.icon === name) return;
  node.dataset.icon = name;
  node.replaceChildren(...(name ? [icon(name)] : []));
}

/** Show a message that disappears on its own; `action` is an optional [text, function]. */
export function toast(text, { isError = false, action = null } = {}) {
  const box = el("div", { class: isError ? "toast bad" : "toast" }, el("span", {}, text));
  const remove = () => box.remove();
  const addButton = (attributes, onclick, content) => {
    box.append(el("button", { ...attributes, type: "button", onclick }, content));
  };
  if (action) addButton({ class: "button small" }, () => { remove(); action[1](); }, action[0]);
  addButton({ class: "icon-button", "aria-label": t("dismiss") }, remove, icon("remove"));
  byId("toasts").append(box);
  while (byId("toasts").childElementCount > 3) byId("toasts").firstChild.remove();
  setTimeout(remove, isError ? 12000 : 8000);
}

export const showError = (error) => toast(error.message, { isError: true });

let answer = () => {}; // resolves the latest question

/** Ask for confirmation of something that cannot be undone; resolves to true or false. */
export function confirmDialog(title, text, confirmText) {
  const dialog = byId("confirm");
  answer(false); // no effect on a question that is answered
  byId("confirm-title").textContent = title;
  byId("confirm-text").textContent = text;
  byId("confirm-yes").textContent = confirmText;
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    answer = resolve;
    dialog.onclose = () => {
      if (!dialog.open) resolve(dialog.returnValue === "yes"); // open: a late event of the question before
    };
  });
}

// The page's start: keys, buttons, the theme, and what to do when the counting program does not answer.

import { openAdd, startAdd } from "./add.js";
import { book, here, load, onChange, press, setLost, whenTrouble } from "./book.js";
import { byId, confirmed, icon, reicon, say, toast } from "./dom.js";
import { show, some } from "./show.js";

const recall = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
const keep = (key, value) => { try { localStorage.setItem(key, value); } catch { /* not kept, then */ } };

// ---- what can be done -----------------------------------------------------------------------------------

const free = { bound: false };
const ACTIONS = {
  "entered-more": () => press({ do: "change", entered: 1 }),
  "entered-less": () => press({ do: "change", entered: -1 }),
  "left-more": () => press({ do: "change", left: 1 }),
  "left-less": () => press({ do: "change", left: -1 }),
  counted: () => press({ do: "counted" }),
  nobody: () => press({ do: "nobody" }),
  unsure: () => press({ do: "unsure" }),
  skipped: () => press({ do: "skipped" }),
  undo: () => { if (book.undoable) press({ do: "undo" }, free); else toast("There is nothing to undo."); },
  next: () => press({ do: "step", by: 1 }, free),
  previous: () => press({ do: "step", by: -1 }, free),
  add: openAdd,
  review,
  delete: deletePicture,
  help: () => byId("shortcuts").showModal(),
};

function review() {
  if (book.minutes.some((row) => row.state === "unsure" || row.state === "skipped")) press({ do: "review" }, free);
  else toast("No minute is unsure or skipped.");
}

async function deletePicture() {
  const row = here();
  if (row === null) return;
  if (row.picture !== "there") { toast("This minute has no picture."); return; }
  if (row.state === "open" || row.state === "begun") { press({ do: "delete" }); return; }
  const yes = await confirmed("Delete this picture?", "Its file is deleted now and cannot come back. What you counted is kept.", "Delete (d)");
  if (yes && here()?.number === row.number) press({ do: "delete" });
}

async function setDeletes(event) {
  const on = event.target.checked;
  event.target.checked = book.deletes; // until it is so
  const there = book.minutes.filter((row) => row.state === "counted" && row.picture === "there").length;
  if (on && there && !await confirmed("Delete pictures as they are counted?",
    `The pictures of ${some(there, "minute")} that you have counted are deleted too, all but the last: their files cannot come back. Pictures of unsure and skipped minutes stay.`,
    "Delete (d)")) return;
  press({ do: "deletes", on }, free);
}

// ---- keys -----------------------------------------------------------------------------------------------

const KEYS = {
  i: "entered-more", ArrowUp: "entered-more", o: "left-more", ArrowDown: "left-more", Enter: "counted", 0: "nobody",
  u: "unsure", s: "skipped", z: "undo", Backspace: "undo", n: "next", "]": "next", ArrowRight: "next",
  p: "previous", "[": "previous", ArrowLeft: "previous", r: "review", a: "add", d: "delete", "?": "help",
};
const WITH_SHIFT = { "entered-more": "entered-less", "left-more": "left-less" };
const MAY_REPEAT = ["next", "previous"]; // a key held down must not count minutes

function actionOf(event) {
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key; // caps lock is not shift
  const action = Object.hasOwn(KEYS, name) ? KEYS[name] : null;
  return (event.shiftKey && WITH_SHIFT[action]) || action;
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || book === null) return;
  if (document.querySelector("dialog[open]")) { keyOfDialog(event); return; }
  if (event.key === "Enter" && event.target.closest("button")) return; // it is that button's
  if (event.key.startsWith("Arrow") && event.target.matches("input[type=radio]")) return;
  const action = actionOf(event);
  if (!action) return;
  event.preventDefault();
  if (!event.repeat || MAY_REPEAT.includes(action)) ACTIONS[action]();
}

/** In a dialog: d again deletes, ? closes the list of keys. */
function keyOfDialog(event) {
  if (event.key === "d" && byId("confirm").open && !event.repeat) byId("confirm").close("yes");
  else if (event.key === "?" && byId("shortcuts").open) byId("shortcuts").close();
  else return;
  event.preventDefault();
}

function startButtons() {
  for (const button of document.querySelectorAll("[data-do]")) {
    button.addEventListener("click", (event) => {
      ACTIONS[button.dataset.do]();
      if (event.detail > 0) button.blur(); // by mouse or finger: Enter is "counted" again
    });
  }
  byId("help").addEventListener("click", ACTIONS.help);
  byId("end-review").addEventListener("click", review);
  byId("end-back").addEventListener("click", ACTIONS.previous);
  byId("warning-go").addEventListener("click", (event) => {
    press({ do: "go", number: Number(event.currentTarget.dataset.number) }, free);
    event.currentTarget.blur();
  });
  byId("deletes").addEventListener("change", setDeletes);
  byId("order-choice").addEventListener("change", (event) => press({ do: "order", order: event.target.value }, free));
  for (const input of document.querySelectorAll("input")) {
    input.addEventListener("click", (event) => { if (event.detail > 0) input.blur(); });
  }
}

// ---- theme ----------------------------------------------------------------------------------------------

const THEMES = { system: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" };
function setTheme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  reicon(byId("theme"), { system: "system", light: "sun", dark: "moon" }[name]);
  byId("theme").title = THEMES[name];
  byId("theme").setAttribute("aria-label", THEMES[name]);
}
function startTheme() {
  const names = Object.keys(THEMES);
  let name = names.includes(recall("occupair-theme")) ? recall("occupair-theme") : "system";
  setTheme(name);
  byId("theme").addEventListener("click", (event) => {
    name = names[(names.indexOf(name) + 1) % names.length];
    keep("occupair-theme", name);
    setTheme(name);
    if (event.detail > 0) byId("theme").blur();
  });
}

// ---- trouble --------------------------------------------------------------------------------------------

/** A key was not taken: say why, and show what is really kept. */
async function trouble(failed) {
  if (failed.status !== 0) {
    toast(failed.message, { bad: failed.status !== 409 });
    await load().catch(lost);
  } else lost();
}

function lost() {
  setLost(true);
  byId("kept").dataset.state = "lost";
  say(byId("kept-word"), "not saved");
  say(byId("banner-text"), "The counting program does not answer, so your last key may not be saved. Start it again: this page then goes on by itself.");
  byId("banner").hidden = false;
  setTimeout(retry, 1000);
}

async function retry() {
  try {
    await load();
  } catch { setTimeout(retry, 1000); return; }
  setLost(false);
  byId("banner").hidden = true;
  byId("kept").dataset.state = "kept";
  show();
}

byId("help").append(icon("keys"));
document.addEventListener("keydown", key);
whenTrouble(trouble);
onChange(show);
startTheme();
startButtons();
startAdd();
load().catch(lost);

// Start of the page: keyboard, buttons, preferences, and recovery when the server does not respond.

import { openAddDialog, startAddDialog } from "./add-minute.js";
import { byId, confirmDialog, icon, setText, toast } from "./dom.js";
import { isEnlarged, startEnlarged, toggleEnlarged } from "./enlarged.js";
import { startTexts, t } from "./i18n.js";
import { startLanguageSwitch, startTheme } from "./preferences.js";
import {
  currentMinute, enqueue, isBusy, load, onChange, onError, sendAction, session, setDisconnected,
} from "./session.js";
import { show } from "./view.js";

const RETRY_INTERVAL = 1000; // [ms]

// ---- actions -----------------------------------------------------------------------------------

const anywhere = { forMinute: false };
const ACTIONS = { // run one after the other
  "entered-more": () => sendAction({ do: "change", entered: 1 }),
  "entered-less": () => sendAction({ do: "change", entered: -1 }),
  "left-more": () => sendAction({ do: "change", left: 1 }),
  "left-less": () => sendAction({ do: "change", left: -1 }),
  counted: () => sendAction({ do: "counted" }),
  nobody: () => sendAction({ do: "nobody" }),
  unsure: () => sendAction({ do: "unsure" }),
  skipped: () => sendAction({ do: "skipped" }),
  undo: () => (session.undoable ? sendAction({ do: "undo" }, anywhere) : toast(t("undo.nothing"))),
  next: () => sendAction({ do: "step", by: 1 }, anywhere),
  previous: () => sendAction({ do: "step", by: -1 }, anywhere),
  review,
  delete: deletePicture,
};
const DIALOGS = { // open at once, so that the following keys are typed into them
  add: openAddDialog,
  enlarge: toggleEnlarged,
  help: () => byId("shortcuts").showModal(),
};
const run = (name) => (Object.hasOwn(DIALOGS, name) ? DIALOGS[name]() : enqueue(ACTIONS[name]));

function review() {
  const isDoubtful = (row) => row.state === "unsure" || row.state === "skipped";
  return session.minutes.some(isDoubtful) ? sendAction({ do: "review" }, anywhere) : toast(t("review.nothing"));
}

async function deletePicture() {
  const row = currentMinute();
  if (row === null) return;
  if (row.picture !== "there") { toast(t("picture.none")); return; }
  const isOpen = row.state === "open" || row.state === "begun";
  if (isOpen || await confirmDialog(t("delete.title"), t("delete.text"), t("delete.confirm"))) {
    await sendAction({ do: "delete" });
  }
}

async function setDeletes(event) {
  const on = event.target.checked;
  event.target.checked = session.deletes; // until the server has confirmed it
  const count = session.minutes.filter((row) => row.state === "counted" && row.picture === "there").length;
  if (on && count) {
    const text = t("deletes.text", { count });
    if (!await confirmDialog(t("deletes.title"), text, t("delete.confirm"))) return;
  }
  enqueue(() => sendAction({ do: "deletes", on }, anywhere));
}

// ---- keyboard -----------------------------------------------------------------------------------------------

const KEYS = {
  i: "entered-more", ArrowUp: "entered-more", o: "left-more", ArrowDown: "left-more", Enter: "counted", 0: "nobody",
  u: "unsure", s: "skipped", z: "undo", Backspace: "undo", n: "next", "]": "next", ArrowRight: "next",
  p: "previous", "[": "previous", ArrowLeft: "previous", r: "review", a: "add", d: "delete", f: "enlarge", "?": "help",
};
const WITH_SHIFT = { "entered-more": "entered-less", "left-more": "left-less" };
const REPEATABLE = ["next", "previous"]; // a key held down must not count minutes

function actionOf(event) {
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key; // caps lock is not Shift
  const action = Object.hasOwn(KEYS, name) ? KEYS[name] : null;
  return (event.shiftKey && WITH_SHIFT[action]) || action;
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || session === null) return;
  if (document.querySelector("dialog[open]:not(#enlarged)")) { onDialogKey(event); return; }
  if (event.key.startsWith("Arrow") && isEnlarged()) return; // scrolls
  if (event.key === "Enter" && event.target.closest("button")) return; // activates the button
  if (event.key.startsWith("Arrow") && event.target.matches("input[type=radio]")) return;
  const action = actionOf(event);
  if (!action) return;
  event.preventDefault();
  if (!event.repeat || REPEATABLE.includes(action)) run(action);
}

/** In a dialog, d confirms the deletion and ? closes the list of keys. */
function onDialogKey(event) {
  if (event.key === "d" && byId("confirm").open && !event.repeat) byId("confirm").close("yes");
  else if (event.key === "?" && byId("shortcuts").open) byId("shortcuts").close();
  else return;
  event.preventDefault();
}

function startButtons() {
  for (const button of document.querySelectorAll("[data-do]")) {
    button.addEventListener("click", (event) => {
      run(button.dataset.do);
      if (event.detail > 0) button.blur(); // clicked: Enter counts the minute again
    });
  }
  byId("help").addEventListener("click", DIALOGS.help);
  byId("end-review").addEventListener("click", () => run("review"));
  byId("end-back").addEventListener("click", () => run("previous"));
  byId("warning-go").addEventListener("click", (event) => {
    const number = Number(event.currentTarget.dataset.number);
    enqueue(() => sendAction({ do: "go", number }, anywhere));
    event.currentTarget.blur();
  });
  byId("deletes").addEventListener("change", setDeletes);
  byId("order-choice").addEventListener("change", ({ target: { value: order } }) => {
    enqueue(() => sendAction({ do: "order", order }, anywhere));
  });
  for (const input of document.querySelectorAll("input")) {
    input.addEventListener("click", (event) => { if (event.detail > 0) input.blur(); });
  }
}

// ---- errors --------------------------------------------------------------------------------------------

/** Report an action that failed, and show what is really stored. */
async function showFailure(error) {
  if (error.status !== 0) {
    toast(error.message, { isError: error.status !== 409 });
    await load().catch(onDisconnect);
  } else onDisconnect();
}

function onDisconnect() {
  setDisconnected(true);
  byId("save-state").dataset.state = "lost";
  setText(byId("save-text"), t("save.lost"));
  setText(byId("banner-text"), t("connection.lost"));
  byId("banner").hidden = false;
  setTimeout(reconnect, RETRY_INTERVAL);
}

async function reconnect() {
  try {
    await load();
  } catch { setTimeout(reconnect, RETRY_INTERVAL); return; }
  setDisconnected(false);
  byId("banner").hidden = true;
  byId("save-state").dataset.state = "saved";
  show();
}

/** Ask before the page is closed while keys are not saved yet. */
function onUnload(event) {
  if (isBusy()) event.preventDefault();
}

await startTexts();
byId("help").append(icon("keys"));
document.addEventListener("keydown", onKey);
window.addEventListener("beforeunload", onUnload);
onError(showFailure);
onChange(show);
startTheme();
startButtons();
startLanguageSwitch();
startAddDialog();
startEnlarged(show);
load().catch(onDisconnect);

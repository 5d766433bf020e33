// The page's start: which view, the header, the theme, the keys, and the connection.

import { follow, login } from "./api.js";
import { ask, whenLoginNeeded } from "./http.js";
import { byId, icon, reicon, say, toast } from "./dom.js";
import * as list from "./list.js";
import * as room from "./room.js";
import * as rooms from "./rooms.js";

const number = new Intl.NumberFormat("en", { useGrouping: true });
const recall = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
const keep = (key, value) => { try { localStorage.setItem(key, value); } catch { /* not kept, then */ } };

// ---- views ----------------------------------------------------------------------------------------------

let last = null; // the room that was open, to come back to
let isLoaded = false;
let scrolled = 0;

function view(name) {
  for (const each of ["rooms", "room", "login"]) byId(`${each}-view`).hidden = each !== name;
}

function route() {
  if (!isLoaded) return;
  const [, kind, id, day] = location.hash.split("/");
  if (kind === "room" && id) {
    if (!byId("rooms-view").hidden) scrolled = window.scrollY;
    list.hide();
    view("room");
    last = decoded(id);
    room.show(last, /^\d{4}-\d{2}-\d{2}$/.test(day ?? "") ? day : null);
    return;
  }
  room.close();
  view("rooms");
  document.title = "Rooms · occupair";
  window.scrollTo(0, scrolled);
  list.show(last);
  last = null;
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

const home = () => { location.hash = "#/"; };

// ---- header ---------------------------------------------------------------------------------------------

let saidAt = 0;
function showTotals() {
  const sum = rooms.totals();
  say(byId("total-people"), sum.rooms > sum.unknown ? number.format(sum.people) : "–");
  say(byId("total-occupied"), number.format(sum.occupied));
  say(byId("total-empty"), number.format(sum.empty));
  say(byId("total-unknown"), number.format(sum.unknown));
  byId("total-unknown").parentElement.classList.toggle("warn", sum.unknown > 0);
  if (performance.now() - saidAt < 20000) return; // aloud at most every 20 s
  saidAt = performance.now();
  say(byId("totals-said"), `${sum.people} people in ${sum.occupied} occupied rooms, ${sum.unknown} rooms unknown`);
}

const THEMES = { system: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" };
function setTheme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  reicon(byId("theme"), { system: "system", light: "sun", dark: "moon" }[name]);
  byId("theme").title = THEMES[name];
  byId("theme").setAttribute("aria-label", THEMES[name]);
  room.redraw();
}
function startTheme() {
  const names = Object.keys(THEMES);
  let name = names.includes(recall("occupair-theme")) ? recall("occupair-theme") : "system";
  setTheme(name);
  byId("theme").addEventListener("click", () => {
    name = names[(names.indexOf(name) + 1) % names.length];
    keep("occupair-theme", name);
    setTheme(name);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => room.redraw());
}

// ---- keys -----------------------------------------------------------------------------------------------

const isTyping = (target) => target.matches("input:not([type=checkbox]), textarea, select");
let hasKeys = recall("occupair-keys") !== "off";

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") escape(event);
  else if (isTyping(event.target)) return;
  else if (!byId("rooms-view").hidden && list.moveBy(event.key)) event.preventDefault();
  else if (hasKeys) shortcut(event);
}

function escape(event) {
  if (event.target === byId("search") && event.target.value) {
    event.target.value = "";
    event.target.dispatchEvent(new Event("input"));
  } else if (room.isOpen() || location.hash.startsWith("#/room")) home();
  else event.target.blur();
}

function shortcut(event) {
  if (event.key === "?") byId("shortcuts").showModal();
  else if (event.key === "n" && room.isOpen()) room.focusCount();
  else if (event.key === "/") {
    if (room.isOpen()) { home(); route(); } // now, so that what is typed next is not lost
    byId("search").focus();
    byId("search").select();
  } else return;
  event.preventDefault();
}

function startKeys() {
  document.addEventListener("keydown", key);
  byId("help").addEventListener("click", () => byId("shortcuts").showModal());
  byId("keys-on").checked = hasKeys;
  byId("keys-on").addEventListener("change", (event) => {
    hasKeys = event.target.checked;
    keep("occupair-keys", hasKeys ? "on" : "off");
  });
}

// ---- connection -----------------------------------------------------------------------------------------

let stream = null;
let bannerTimer = 0;

function linkState(state, word) {
  byId("link-state").dataset.state = state;
  say(byId("link-word"), word);
}

function opened() {
  clearTimeout(bannerTimer);
  bannerTimer = 0;
  const wasLost = !byId("banner").hidden || byId("link-state").dataset.state === "lost";
  byId("banner").hidden = true;
  linkState("live", "live");
  if (wasLost) fetchRooms().then(room.refresh, () => {});
}

function lost() {
  linkState("lost", "reconnecting");
  // a stream that comes straight back is not worth a banner
  bannerTimer ||= setTimeout(() => {
    say(byId("banner-text"), "The connection to the service is lost. What you see is what was last known.");
    byId("banner").hidden = false;
  }, 1500);
}

async function fetchRooms() {
  rooms.setRooms(await ask("GET", "api/rooms"));
}

async function enter() {
  try {
    await fetchRooms();
  } catch (failed) {
    if (failed.status === 401) return;
    lost();
    setTimeout(enter, 3000);
    return;
  }
  isLoaded = true;
  whoAmI();
  showTotals();
  route();
  stream?.stop();
  stream = follow({
    opened,
    lost,
    states: (states) => { if (rooms.setStates(states)) fetchRooms().catch(() => {}); },
  });
}

/** What a token may not do is not offered; the service refuses it anyway. */
async function whoAmI() {
  const me = await ask("GET", "api/login").catch(() => ({ name: "", role: "admin" }));
  document.documentElement.dataset.role = me.role;
  byId("logout").hidden = !me.name;
}

function askToken() {
  stream?.stop();
  isLoaded = false;
  room.close();
  list.hide();
  clearTimeout(bannerTimer);
  bannerTimer = 0;
  byId("banner").hidden = true;
  byId("logout").hidden = true;
  linkState("waiting", "signed out");
  view("login");
  byId("token").focus();
}

function startLogin() {
  whenLoginNeeded(askToken);
  byId("logout").addEventListener("click", async () => {
    await ask("POST", "api/logout").catch((failed) => toast(failed.message, { bad: true }));
    enter();
  });
  byId("login").addEventListener("submit", async (event) => {
    event.preventDefault();
    say(byId("login-error"), "");
    try {
      await login(byId("token").value.trim());
      byId("token").value = "";
      enter();
    } catch (failed) {
      say(byId("login-error"), failed.status === 401 ? "That token is not known here." : failed.message);
    }
  });
}

// ---- start ----------------------------------------------------------------------------------------------

byId("help").append(icon("keys"));
byId("logout").append(icon("leave"));
byId("search-icon").append(icon("search"));
byId("skip").addEventListener("click", (event) => { event.preventDefault(); byId("main").focus(); });
byId("banner-retry").addEventListener("click", () => { stream?.retry(); });
window.addEventListener("hashchange", route);
window.addEventListener("unhandledrejection", (event) => {
  toast(event.reason?.message || "Something went wrong.", { bad: true });
});
rooms.onChange(showTotals);
startTheme();
startKeys();
startLogin();
list.start();
enter();

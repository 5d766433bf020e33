// Start of the page: routing, header, keyboard shortcuts and the connection to the service.

import { MAX_WAIT, followStates, login } from "./api.js";
import { byId, icon, setText, showError, toast } from "./dom.js";
import { onLoginRequired, request } from "./http.js";
import { formatNumber, startTexts, t } from "./i18n.js";
import { readPreference, startLanguageSwitch, startTheme, storePreference } from "./preferences.js";
import * as roomList from "./room-list.js";
import * as rooms from "./room-store.js";
import * as roomView from "./room-view.js";

// ---- views ----------------------------------------------------------------------------------------------

let lastRoom = null; // the room that was open, focused again in the list
let isLoaded = false;
let listScroll = 0; // [px]

function showView(name) {
  for (const view of ["rooms", "room", "login"]) byId(`${view}-view`).hidden = view !== name;
}

function route() {
  if (!isLoaded) return;
  const [, kind, id, day] = location.hash.split("/");
  if (kind === "room" && id) {
    if (!byId("rooms-view").hidden) listScroll = window.scrollY;
    roomList.hide();
    showView("room");
    lastRoom = decodeId(id);
    roomView.show(lastRoom, /^\d{4}-\d{2}-\d{2}$/.test(day ?? "") ? day : null);
    return;
  }
  roomView.close();
  showView("rooms");
  document.title = t("page.title");
  window.scrollTo(0, listScroll);
  roomList.show(lastRoom);
  lastRoom = null;
}

function decodeId(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

const goToList = () => { location.hash = "#/"; };

// ---- totals ---------------------------------------------------------------------------------------------

const ANNOUNCE_EVERY = 20000; // for screen readers [ms]
let announcedAt = -ANNOUNCE_EVERY;

function showTotals() {
  const totals = rooms.totals();
  setText(byId("total-people"), totals.rooms > totals.unknown ? formatNumber(totals.people) : "–");
  setText(byId("total-occupied"), formatNumber(totals.occupied));
  setText(byId("total-empty"), formatNumber(totals.empty));
  setText(byId("total-unknown"), formatNumber(totals.unknown));
  byId("total-unknown").parentElement.classList.toggle("warn", totals.unknown > 0);
  if (performance.now() - announcedAt < ANNOUNCE_EVERY) return;
  announcedAt = performance.now();
  setText(byId("totals-announcement"), [
    t("people", { count: totals.people }), t("totals.roomsOccupied", { count: totals.occupied }),
    t("totals.roomsUnknown", { count: totals.unknown }),
  ].join(", "));
}

// ---- keyboard shortcuts ---------------------------------------------------------------------------------

const isTextInput = (target) => target.matches("input:not([type=checkbox]), textarea, select");
let hasShortcuts = readPreference("occupair-keys") !== "off";

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") onEscape(event);
  else if (isTextInput(event.target)) return;
  else if (!byId("rooms-view").hidden && roomList.handleKey(event.key)) event.preventDefault();
  else if (hasShortcuts) onShortcut(event);
}

function onEscape(event) {
  if (event.target === byId("search") && event.target.value) {
    event.target.value = "";
    event.target.dispatchEvent(new Event("input"));
  } else if (roomView.isOpen() || location.hash.startsWith("#/room")) goToList();
  else event.target.blur();
}

function onShortcut(event) {
  if (event.key === "?") byId("shortcuts").showModal();
  else if (event.key === "n" && roomView.isOpen()) roomView.focusHeadCount();
  else if (event.key === "/") {
    if (roomView.isOpen()) { goToList(); route(); } // at once, so the next key reaches the search field
    byId("search").focus();
    byId("search").select();
  } else return;
  event.preventDefault();
}

function startShortcuts() {
  document.addEventListener("keydown", onKey);
  byId("help").addEventListener("click", () => byId("shortcuts").showModal());
  byId("shortcuts-enabled").checked = hasShortcuts;
  byId("shortcuts-enabled").addEventListener("change", (event) => {
    hasShortcuts = event.target.checked;
    storePreference("occupair-keys", hasShortcuts ? "on" : "off");
  });
}

// ---- connection -----------------------------------------------------------------------------------------

const BANNER_DELAY = 1500; // a stream that reconnects at once shows no banner [ms]
let stream = null;
let bannerTimer = 0;

function showConnection(state, text) {
  byId("connection").dataset.state = state;
  setText(byId("connection-text"), text);
}

function showBanner(text) {
  setText(byId("banner-text"), text);
  byId("banner").hidden = false;
}

function hideBanner() {
  clearTimeout(bannerTimer);
  bannerTimer = 0;
  byId("banner").hidden = true;
}

function onOpen() {
  const wasLost = !byId("banner").hidden || byId("connection").dataset.state === "lost";
  hideBanner();
  showConnection("live", t("connection.live"));
  if (wasLost) fetchRooms().then(roomView.refresh, () => {});
}

function onLost() {
  showConnection("lost", t("connection.lost"));
  bannerTimer ||= setTimeout(() => showBanner(t("connection.lostBanner")), BANNER_DELAY);
}

/** Too many viewers: fetch the states now and then. */
async function onRefused() {
  await fetchRooms();
  hideBanner();
  showConnection("waiting", t("connection.polling"));
  showBanner(t("connection.limitBanner", { count: MAX_WAIT }));
}

async function fetchRooms() {
  rooms.setRooms(await request("GET", "api/rooms"));
}

/** Load the rooms, show the view of the address and follow the states. */
async function connect() {
  try {
    await fetchRooms();
  } catch (error) {
    if (error.status === 401) return;
    onLost();
    setTimeout(connect, 3000);
    return;
  }
  isLoaded = true;
  fetchRole();
  showTotals();
  route();
  stream?.stop();
  stream = followStates({
    onOpen,
    onLost,
    onRefused,
    onStates: (states) => { if (rooms.setStates(states)) fetchRooms().catch(() => {}); },
  });
}

/** Hide what the role does not permit; the service rejects it anyway. */
async function fetchRole() {
  const caller = await request("GET", "api/login").catch(() => ({ name: "", role: "admin" }));
  document.documentElement.dataset.role = caller.role;
  byId("logout").hidden = !caller.name;
}

function showLogin() {
  stream?.stop();
  isLoaded = false;
  roomView.close();
  roomList.hide();
  hideBanner();
  byId("logout").hidden = true;
  showConnection("waiting", t("connection.signedOut"));
  showView("login");
  byId("token").focus();
}

function startLogin() {
  onLoginRequired(showLogin);
  byId("logout").addEventListener("click", async () => {
    await request("POST", "api/logout").catch(showError);
    connect();
  });
  byId("login").addEventListener("submit", async (event) => {
    event.preventDefault();
    setText(byId("login-error"), "");
    try {
      await login(byId("token").value.trim());
      byId("token").value = "";
      connect();
    } catch (error) {
      setText(byId("login-error"), error.status === 401 ? t("login.invalid") : error.message);
    }
  });
}

// ---- start ----------------------------------------------------------------------------------------------

await startTexts();
byId("help").append(icon("keys"));
byId("logout").append(icon("leave"));
byId("search-icon").append(icon("search"));
byId("skip").addEventListener("click", (event) => { event.preventDefault(); byId("main").focus(); });
byId("banner-retry").addEventListener("click", () => { stream?.retry(); });
window.addEventListener("hashchange", route);
window.addEventListener("unhandledrejection", (event) => {
  toast(event.reason?.message || t("error.unexpected"), { isError: true });
});
rooms.onChange(showTotals);
startTheme(roomView.redraw);
startLanguageSwitch();
startShortcuts();
startLogin();
roomList.start();
showConnection("waiting", t("connection.connecting"));
connect();

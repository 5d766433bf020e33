// Start of the page: routing, header, keyboard shortcuts and the connection to the service.

import { MAX_WAIT, followStates, login } from "./api.js";
import { byId, icon, setText, showError, toast } from "./dom.js";
import * as floorView from "./floor-view.js";
import { createLegend } from "./heat.js";
import { onLoginRequired, request } from "./http.js";
import { formatNumber, startTexts, t } from "./i18n.js";
import { readPreference, startLanguageSwitch, startTheme, storePreference } from "./preferences.js";
import * as roomList from "./room-list.js";
import * as order from "./room-order.js";
import * as rooms from "./room-store.js";
import { STRIPS, showAxis } from "./room-strip.js";
import { TILES } from "./room-tile.js";
import * as roomView from "./room-view.js";
import * as todayData from "./today-data.js";
import * as weekView from "./week-view.js";

// ---- views ----------------------------------------------------------------------------------------------

let lastRoom = null; // the room that was open, focused again in the list
let isLoaded = false;
let listScroll = 0; // [px]
let lastView = "rooms"; // the view of all rooms that was shown last
const VIEW_HASHES = { rooms: "#/", today: "#/today", floor: "#/floor" };

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Show one section; `tab` is the view of all rooms that it belongs to. */
function showView(name, tab = null) {
  for (const view of ["rooms", "floor", "room", "login"]) byId(`${view}-view`).hidden = view !== name;
  byId("views").hidden = tab === null;
  for (const link of byId("views").children) {
    if (link.dataset.view === tab) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function route() {
  if (!isLoaded) return;
  const [, kind, id, ...rest] = location.hash.split("/");
  if (!byId("rooms-view").hidden) listScroll = window.scrollY;
  if (kind === "room" && id) showRoom(decodeId(id), rest);
  else {
    roomView.close();
    weekView.close();
    if (kind === "floor") showFloor(decodeId(id ?? ""));
    else showRooms(kind === "today" ? "today" : "rooms");
  }
}

function showRoom(id, rest) {
  const isWeek = rest[0] === "week";
  const day = rest[isWeek ? 1 : 0] ?? "";
  hideRooms();
  floorView.close();
  showView("room");
  lastRoom = id;
  (isWeek ? roomView : weekView).close();
  (isWeek ? weekView : roomView).show(id, DAY.test(day) && !Number.isNaN(Date.parse(day)) ? day : null);
}

function showFloor(floor) {
  hideRooms();
  showView("floor", "floor");
  document.title = t("floor.title");
  if (lastView !== "floor") window.scrollTo(0, 0);
  lastView = "floor";
  floorView.show(floor);
}

/** Show all rooms, as tiles or as strips of today. */
function showRooms(view) {
  floorView.close();
  showView("rooms", view);
  const isToday = view === "today";
  document.title = isToday ? t("today.title") : t("page.title");
  for (const part of ["today-head", "today-legend"]) byId(part).hidden = !isToday;
  window.scrollTo(0, view === lastView ? listScroll : 0);
  lastView = view;
  todayData.start();
  if (isToday) updateAxis();
  roomList.show(isToday ? STRIPS : TILES, lastRoom);
  lastRoom = null;
}

function hideRooms() {
  roomList.hide();
  todayData.stop();
}

const updateAxis = () => { if (!byId("today-head").hidden) showAxis(order.ids()[0] ?? rooms.all().next().value?.room); };

function decodeId(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

const goToList = () => { location.hash = VIEW_HASHES[lastView]; };

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
  } else if (location.hash.startsWith("#/room")) goToList();
  else event.target.blur();
}

function onShortcut(event) {
  if (event.key === "?") byId("shortcuts").showModal();
  else if (event.key === "n" && roomView.isOpen()) roomView.focusHeadCount();
  else if (event.key === "w" && (roomView.isOpen() || weekView.isOpen())) {
    location.hash = `#/room/${encodeURIComponent(lastRoom)}${weekView.isOpen() ? "" : "/week"}`;
  } else if (["1", "2", "3"].includes(event.key)) location.hash = Object.values(VIEW_HASHES)[event.key - 1];
  else if (event.key === "/") {
    if (byId("rooms-view").hidden) { location.hash = "#/"; route(); } // at once, so the next key reaches the search field
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
  if (wasLost) fetchRooms().then(refreshViews, () => {});
}

function refreshViews() {
  roomView.refresh();
  weekView.refresh();
  floorView.refresh();
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
  weekView.close();
  floorView.close();
  hideRooms();
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
byId("today-csv").prepend(icon("down_tray"));
byId("today-legend").append(createLegend());
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
todayData.onChange(updateAxis);
order.onSort(updateAxis);
showConnection("waiting", t("connection.connecting"));
connect();

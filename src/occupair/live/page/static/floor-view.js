// The view of a floor: its plan with a marker for each room, coloured by the capacity used, and a list of its rooms.

import { byId, el, setText, showError } from "./dom.js";
import { startPlanEditor } from "./floor-edit.js";
import { formatOccupancy, formatPercent, formatPeople, formatReason, isOccupancyKnown } from "./format.js";
import { createLegend, heatLevel } from "./heat.js";
import { request } from "./http.js";
import { t } from "./i18n.js";
import { compareFloors, roomsOfFloor } from "./room-order.js";
import * as rooms from "./room-store.js";

const view = byId("floor-view");
let open = null; // the FloorView that is shown

const floorHash = (floor) => `#/floor/${encodeURIComponent(floor)}`;
const planPath = (floor) => `api/floors/plan?${new URLSearchParams({ floor })}`;

/** Names of all floors, from the lowest. */
const floorNames = () => [...new Set([...rooms.all()].map((room) => room.floor))].sort(compareFloors);

/** Colour step of a room's state: of its capacity used, or "count" if it has no capacity. */
function heatOf({ state, capacity }) {
  if (!isOccupancyKnown(state)) return "unknown";
  return capacity ? String(heatLevel(state.people, capacity)) : "count";
}

/** Occupancy of a room in words. */
function describe({ name, state, capacity }) {
  if (!isOccupancyKnown(state)) return [name, t("occupancy.unknown"), formatReason(state)].join(", ");
  const used = capacity ? t("tile.utilization", { percent: formatPercent(state.people / capacity) }) : "";
  return [name, formatPeople(state.people), used].filter(Boolean).join(", ");
}

/** Show a floor; the first one if it has no name or does not exist. */
export function show(floor) {
  const names = floorNames();
  const chosen = names.includes(floor) ? floor : names[0] ?? "";
  if (open?.floor === chosen) return;
  close();
  open = new FloorView(chosen, names);
}

class FloorView {
  constructor(floor, names) {
    this.floor = floor;
    this.plan = null; // {width, height, sha256}
    this.places = new Map(); // room id -> {x, y}
    this.markers = new Map(); // room id -> element
    this.rows = new Map(); // room id -> its parts in the list
    this.build(names);
    this.stopListening = rooms.onChange((ids) => this.onStates(ids));
    this.load();
  }

  build(names) {
    const label = (name) => name || t("floor.unnamed");
    this.pick = el("select", { id: "floor-pick" },
      ...names.map((name) => el("option", { value: name, selected: name === this.floor }, label(name))));
    this.pick.addEventListener("change", () => { location.hash = floorHash(this.pick.value); });
    this.edit = el("button", { class: "button needs-admin", type: "button", "aria-pressed": "false" }, t("floor.edit"));
    this.image = el("img", { class: "plan-image", alt: t("floor.planOf", { floor: label(this.floor) }), draggable: "false" });
    this.layer = el("div", { class: "plan-layer" });
    this.frame = el("div", { class: "plan", hidden: true }, this.image, this.layer);
    this.empty = el("div", { class: "empty", hidden: true }, el("p", {}, t("floor.noPlan")),
      el("p", { class: "needs-admin" }, t("floor.noPlanAdmin")));
    this.tools = el("div", { class: "plan-tools", hidden: true });
    this.list = el("ul", { class: "floor-rooms", "aria-label": t("floor.rooms") });
    view.replaceChildren(
      el("div", { class: "floor-bar" },
        el("label", { class: "pick" }, el("span", {}, t("floor")), this.pick), this.edit),
      this.tools,
      el("div", { class: "card plan-card" }, this.frame, this.empty, createLegend()),
      this.list);
    this.edit.addEventListener("click", () => this.toggleEditor());
    this.image.addEventListener("error", () => { if (this.plan) showError(new Error(t("floor.notShown"))); });
  }

  async load() {
    try {
      const { plans, places } = await request("GET", "api/floors");
      if (open !== this) return;
      this.places = new Map(places.map(({ room, x, y }) => [room, { x, y }]));
      this.setPlan(plans.find((plan) => plan.floor === this.floor) ?? null);
    } catch (error) {
      showError(error);
    }
  }

  setPlan(plan) {
    this.plan = plan;
    this.frame.hidden = !plan;
    this.empty.hidden = Boolean(plan);
    if (plan) {
      this.frame.style.aspectRatio = `${plan.width} / ${plan.height}`;
      this.frame.style.setProperty("--ratio", plan.width / plan.height);
      this.image.src = `${planPath(this.floor)}&v=${plan.sha256.slice(0, 12)}`;
    } else this.image.removeAttribute("src");
    this.draw();
  }

  /** Draw markers and list again. */
  draw() {
    const found = roomsOfFloor(this.floor);
    const wanted = new Set(found.map((room) => room.room).filter((id) => this.places.has(id)));
    for (const [id, node] of this.markers) if (!wanted.has(id)) { node.remove(); this.markers.delete(id); }
    for (const room of found) {
      if (!wanted.has(room.room)) continue;
      if (!this.markers.has(room.room)) this.addMarker(room);
      this.moveMarker(room.room);
    }
    this.rows = new Map(found.map((room) => [room.room, createRow(room)]));
    this.list.replaceChildren(...[...this.rows.values()].map(({ node }) => node));
    this.onStates(this.rows.keys());
    this.editor?.update();
  }

  addMarker(room) {
    const node = el("a", { class: "marker", href: `#/room/${encodeURIComponent(room.room)}`, "data-room": room.room },
      el("span", { class: "marker-count" }), el("span", { class: "marker-name" }, room.name));
    this.markers.set(room.room, node);
    this.layer.append(node);
  }

  moveMarker(id) {
    const { x, y } = this.places.get(id);
    const { style } = this.markers.get(id);
    style.left = `${(100 * x).toFixed(2)}%`;
    style.top = `${(100 * y).toFixed(2)}%`;
  }

  onStates(ids) {
    for (const id of ids) {
      const room = rooms.room(id);
      if (!room || room.floor !== this.floor) continue;
      const marker = this.markers.get(id);
      const row = this.rows.get(id);
      const count = formatOccupancy(room.state);
      for (const [node, text] of [[marker, marker?.firstChild], [row?.key, row?.key]]) {
        if (!node) continue;
        node.dataset.heat = heatOf(room);
        setText(text, count);
      }
      if (marker) {
        marker.setAttribute("aria-label", describe(room));
        marker.title = describe(room);
      }
      if (row) setText(row.detail, detailOf(room));
    }
  }

  toggleEditor() {
    const isOn = !this.editor;
    this.edit.setAttribute("aria-pressed", String(isOn));
    setText(this.edit, isOn ? t("floor.done") : t("floor.edit"));
    this.frame.classList.toggle("editing", isOn);
    this.tools.hidden = !isOn;
    if (isOn) this.editor = startPlanEditor(this, planPath(this.floor));
    else { this.editor.close(); this.editor = null; }
  }

  close() {
    this.stopListening();
    this.editor?.close();
  }
}

const detailOf = ({ state, capacity }) => {
  if (!isOccupancyKnown(state)) return formatReason(state);
  return capacity ? t("floor.ofSeats", { percent: formatPercent(state.people / capacity), count: capacity }) : t("floor.noCapacity");
};

function createRow(room) {
  const key = el("span", { class: "floor-count" });
  const detail = el("span", { class: "muted" });
  const text = el("span", { class: "floor-text" }, el("strong", {}, room.name), detail);
  const link = el("a", { class: "floor-room", href: `#/room/${encodeURIComponent(room.room)}` }, key, text);
  return { node: el("li", {}, link), key, detail };
}

/** Fetch plans and places again after the connection was lost. */
export const refresh = () => open?.load();

export function close() {
  open?.close();
  open = null;
  view.replaceChildren();
}

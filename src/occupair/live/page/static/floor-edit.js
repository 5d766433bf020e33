// Editing of a floor plan: upload, delete, and place rooms by mouse, touch or keyboard. Every change is saved at once.

import { roomPath } from "./api.js";
import { confirmDialog, el, icon, setText, showError, toast } from "./dom.js";
import { request } from "./http.js";
import { t } from "./i18n.js";
import { roomsOfFloor } from "./room-order.js";
import * as rooms from "./room-store.js";

const STEP = 0.01; // of an arrow key, as a share of the plan; with Shift five times as much
const SAVE_DELAY = 400; // after the last arrow key [ms]
const TYPES = { svg: "image/svg+xml", png: "image/png" };

const within = (value) => Math.min(1, Math.max(0, Math.round(value * 10000) / 10000));

/** Start editing a FloorView; returns `{update, close}`. */
export function startPlanEditor(floorView, planPath) {
  const lifetime = new AbortController();
  const { signal } = lifetime;
  const timers = new Map(); // room id -> timer of its save
  let selected = null; // room that the next click on the plan places
  let dragged = null; // {id, moved}

  // ---- plan ----

  const file = el("input", { type: "file", id: "plan-file", class: "hidden", accept: ".svg,.png", "aria-label": t("floor.file"), tabindex: "-1" });
  const upload = el("button", { class: "button", type: "button" }, icon("up_tray"), el("span"));
  const remove = el("button", { class: "button danger-text", type: "button" }, t("floor.delete"));
  const unplaced = el("ul", { class: "unplaced", "aria-label": t("floor.unplaced") });
  const hint = el("p", { class: "muted", id: "plan-hint" });
  const announcement = el("p", { class: "hidden", "aria-live": "polite" });
  floorView.tools.replaceChildren(file, el("div", { class: "row" }, upload, remove), hint, unplaced, announcement);

  upload.addEventListener("click", () => file.click());
  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    file.value = ""; // now, since the next file may be chosen during the upload
    if (!chosen) return;
    const type = TYPES[chosen.name.split(".").at(-1).toLowerCase()] ?? chosen.type;
    await change(async () => {
      await request("PUT", planPath, { body: chosen, type });
      toast(t("floor.uploaded", { name: chosen.name }));
      await floorView.load();
    });
  });
  remove.addEventListener("click", async () => {
    if (!await confirmDialog(t("floor.delete.title"), t("floor.delete.text"), t("floor.delete"))) return;
    await change(async () => { await request("DELETE", planPath); await floorView.load(); });
  });

  async function change(work) {
    try { await work(); } catch (error) { showError(error); }
  }

  // ---- places ----

  const save = (id) => change(() => request("PUT", roomPath(id, "/place"), { json: floorView.places.get(id) }));

  function saveLater(id) {
    clearTimeout(timers.get(id));
    timers.set(id, setTimeout(() => { timers.delete(id); save(id); }, SAVE_DELAY));
  }

  function place(id, x, y) {
    floorView.places.set(id, { x: within(x), y: within(y) });
  }

  function removePlace(id) {
    const before = floorView.places.get(id);
    clearTimeout(timers.get(id)); // a move that is not saved yet
    timers.delete(id);
    floorView.places.delete(id);
    floorView.draw();
    change(() => request("DELETE", roomPath(id, "/place")));
    const undo = () => { place(id, before.x, before.y); floorView.draw(); save(id); };
    toast(t("floor.removed", { name: rooms.room(id).name }), { action: [t("headCount.undo"), undo] });
  }

  const share = (event) => {
    const box = floorView.layer.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  };

  floorView.layer.addEventListener("pointerdown", (event) => {
    const marker = event.target.closest(".marker");
    if (!marker || event.button > 0) return;
    event.preventDefault();
    marker.focus({ preventScroll: true });
    marker.setPointerCapture(event.pointerId);
    dragged = marker.dataset.room;
  }, { signal });

  floorView.layer.addEventListener("pointermove", (event) => {
    if (!dragged) return;
    place(dragged, ...share(event));
    floorView.moveMarker(dragged);
  }, { signal });

  const drop = () => {
    if (dragged) save(dragged);
    dragged = null;
  };
  floorView.layer.addEventListener("pointerup", drop, { signal });
  floorView.layer.addEventListener("pointercancel", drop, { signal });

  floorView.layer.addEventListener("click", (event) => {
    event.preventDefault(); // a marker does not open its room now
    if (event.target.closest(".marker") || selected === null) return;
    const id = selected;
    place(id, ...share(event));
    selected = null;
    floorView.draw();
    save(id);
    floorView.markers.get(id).focus({ preventScroll: true });
  }, { signal });

  floorView.layer.addEventListener("keydown", (event) => {
    const id = event.target.closest(".marker")?.dataset.room;
    if (!id || event.ctrlKey || event.metaKey || event.altKey) return;
    const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (direction) {
      const { x, y } = floorView.places.get(id);
      const step = STEP * (event.shiftKey ? 5 : 1);
      place(id, x + direction[0] * step, y + direction[1] * step);
      floorView.moveMarker(id);
      saveLater(id);
      const { x: left, y: top } = floorView.places.get(id);
      setText(announcement, t("floor.position", { x: Math.round(100 * left), y: Math.round(100 * top) }));
    } else if (event.key === "Delete" || event.key === "Backspace") removePlace(id);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }, { signal });

  // ---- rooms without a place ----

  function createChip(room) {
    const chip = el("button", { class: "button small", type: "button", "aria-pressed": String(selected === room.room) },
      icon("plus"), room.name);
    chip.addEventListener("click", (event) => {
      const isKeyboard = event.detail === 0;
      if (isKeyboard) { // placed in the middle, to be moved by arrow keys
        place(room.room, 0.5, 0.5);
        floorView.draw();
        save(room.room);
        floorView.markers.get(room.room).focus();
        return;
      }
      selected = selected === room.room ? null : room.room;
      update();
    });
    return el("li", {}, chip);
  }

  function hintText() {
    if (!floorView.plan) return t("floor.hint.upload");
    if (selected !== null) return t("floor.hint.place", { name: rooms.room(selected).name });
    return t("floor.hint.move");
  }

  function update() {
    const without = roomsOfFloor(floorView.floor).filter((room) => !floorView.places.has(room.room));
    if (selected !== null && !without.some((room) => room.room === selected)) selected = null;
    setText(upload.lastChild, floorView.plan ? t("floor.replace") : t("floor.upload"));
    remove.hidden = !floorView.plan;
    unplaced.hidden = !floorView.plan || !without.length;
    unplaced.replaceChildren(...without.map(createChip));
    floorView.frame.classList.toggle("placing", selected !== null);
    setText(hint, hintText());
  }

  update();
  return {
    update,
    close() {
      lifetime.abort();
      for (const [id, timer] of timers) { clearTimeout(timer); save(id); }
      floorView.frame.classList.remove("placing");
      floorView.tools.replaceChildren();
    },
  };
}

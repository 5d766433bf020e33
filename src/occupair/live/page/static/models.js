// The room's model: which is in use, download, upload, and forgetting all of it.

import { roomPath } from "./api.js";
import { ask } from "./http.js";
import { confirmed, el, icon, toast } from "./dom.js";
import { size } from "./words.js";
import { clockText, dayText, localDay } from "./zones.js";

const FEW = 4; // models shown
const ORIGIN = { file: "from the service's set-up", upload: "uploaded", trained: "trained from labels" };
const FORGET = "All counts people entered and all models trained or uploaded here are deleted. The room goes back to the "
  + "model it was set up with, or to none. Readings stay.";

/** The card; `changed()` is told when another model is in use or everything was forgotten. */
export function modelsCard(id, zone, changed) {
  const list = el("ul", { class: "models", "aria-label": "Models" });
  const none = el("p", { class: "muted" }, "This room has no model yet.");
  const hidden = { id: "model-file", class: "hidden", "aria-label": "Model file", tabindex: "-1" };
  const file = el("input", { type: "file", ...hidden });
  const upload = el("button", { class: "button", type: "button" }, icon("up_tray"), "Upload a model");
  const forget = el("button", { class: "button danger-text", type: "button", id: "forget" }, "Forget what you learned");
  const node = el("section", { class: "card", id: "models-card" },
    el("h2", {}, "Model"), none, list, file, el("div", { class: "row needs-admin" }, upload, forget));

  function about(model) {
    const time = Date.parse(model.created);
    const when = `${dayText(localDay(zone, time), "short")}, ${clockText(zone, time)}`;
    return [ORIGIN[model.origin] || model.origin, when, size(model.size)].join(" · ");
  }

  function row({ version, active, ...model }) {
    const path = `/models/${version}`;
    const chip = active ? el("span", { class: "chip" }, "in use") : null;
    const use = el("button", { class: "button small needs-admin", type: "button" }, "Use");
    use.addEventListener("click", () => act("POST", `${path}/activate`, {}, `Version ${version} is in use.`));
    const download = el("a", {
      class: "icon-button", href: roomPath(id, path), download: `${id}-${version}.occupair`,
      "aria-label": `Download version ${version}`, title: "Download",
    }, icon("down_tray"));
    const text = el("div", {}, el("strong", {}, `Version ${version}`), chip, el("p", { class: "muted" }, about(model)));
    return el("li", { "data-active": active && "yes" }, text, active ? null : use, download);
  }

  async function load() {
    const { models } = await ask("GET", roomPath(id, "/models"));
    models.sort((a, b) => Number(b.active) - Number(a.active) || b.version - a.version);
    none.hidden = models.length > 0;
    list.replaceChildren(...models.slice(0, FEW).map(row));
  }

  async function act(method, path, sent, done) {
    try {
      await ask(method, roomPath(id, path), sent);
      toast(done);
      changed();
    } catch (failed) {
      toast(failed.message, { bad: true });
    }
    await load().catch(() => {});
  }

  upload.addEventListener("click", () => file.click());
  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    if (chosen) await act("POST", "/models", { body: chosen }, `${chosen.name} is uploaded and in use.`);
    file.value = "";
  });
  forget.addEventListener("click", async () => {
    if (!await confirmed("Forget what this room learned?", FORGET, "Forget it all")) return;
    await act("POST", "/forget", {}, "Forgotten. The room is as it was set up.");
  });
  return { node, load };
}

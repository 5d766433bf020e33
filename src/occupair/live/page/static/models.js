// The models of a room: the active one, download, upload, and reset.

import { roomPath } from "./api.js";
import { confirmDialog, el, icon, showError, toast } from "./dom.js";
import { formatSize } from "./format.js";
import { request } from "./http.js";
import { t } from "./i18n.js";
import { formatShortDay, formatTime, localDay } from "./time-zones.js";

const MAX_LISTED = 4;

const originName = (origin) => ({
  file: t("model.origin.file"), upload: t("model.origin.upload"), trained: t("model.origin.trained"),
  calibrated: t("model.origin.calibrated"),
}[origin] ?? origin);

/** Create the card; `onChange()` is called when another model is active or the room was reset. */
export function createModelsCard(id, zone, onChange) {
  let loads = 0;
  const list = el("ul", { class: "models", "aria-label": t("model.list") });
  const empty = el("p", { class: "muted" }, t("model.none"));
  const file = el("input", {
    type: "file", id: "model-file", class: "hidden", "aria-label": t("model.file"), tabindex: "-1",
  });
  const upload = el("button", { class: "button", type: "button" }, icon("up_tray"), t("model.upload"));
  const reset = el("button", { class: "button danger-text", type: "button", id: "reset" }, t("model.reset"));
  const node = el("section", { class: "card", id: "models-card" },
    el("h2", {}, t("model.title")), empty, list, file, el("div", { class: "row needs-admin" }, upload, reset));

  function describe(model) {
    const time = Date.parse(model.created);
    const day = formatShortDay(localDay(zone, time), localDay(zone, Date.now()));
    const created = `${day}, ${formatTime(zone, time)}`;
    return [originName(model.origin), created, formatSize(model.size)].join(" · ");
  }

  function createItem({ version, active, ...model }) {
    const path = `/models/${version}`;
    const name = t("model.version", { version: String(version) });
    const chip = active ? el("span", { class: "chip" }, t("model.active")) : null;
    const use = el("button", { class: "button small needs-admin", type: "button" }, t("model.use"));
    use.addEventListener("click", () => {
      change("POST", `${path}/activate`, {}, t("model.activated", { version: String(version) }));
    });
    const download = el("a", {
      class: "icon-button", href: roomPath(id, path), download: `${id}-${version}.occupair`,
      "aria-label": t("model.downloadVersion", { version: String(version) }), title: t("model.download"),
    }, icon("down_tray"));
    const text = el("div", {}, el("strong", {}, name), chip, el("p", { class: "muted" }, describe(model)));
    return el("li", { "data-active": active && "yes" }, text, active ? null : use, download);
  }

  async function load() {
    const started = loads += 1;
    const { models } = await request("GET", roomPath(id, "/models"));
    if (started !== loads) return; // a later one has newer models
    models.sort((a, b) => Number(b.active) - Number(a.active) || b.version - a.version);
    empty.hidden = models.length > 0;
    list.replaceChildren(...models.slice(0, MAX_LISTED).map(createItem));
  }

  async function change(method, path, options, doneText) {
    try {
      await request(method, roomPath(id, path), options);
      toast(doneText);
      onChange();
    } catch (error) {
      showError(error);
    }
    await load().catch(() => {});
  }

  upload.addEventListener("click", () => file.click());
  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    file.value = ""; // now, since the next file may be chosen during the upload
    if (chosen) await change("POST", "/models", { body: chosen }, t("model.uploaded", { name: chosen.name }));
  });
  reset.addEventListener("click", async () => {
    if (!await confirmDialog(t("model.reset.title"), t("model.reset.text"), t("model.reset.confirm"))) return;
    await change("POST", "/forget", {}, t("model.reset.done"));
  });
  return { node, load };
}

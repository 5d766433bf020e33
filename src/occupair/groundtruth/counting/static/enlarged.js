// The picture of the current minute in full size, above the page. Counting by keyboard goes on there.

import { byId, icon, setText } from "./dom.js";
import { t } from "./i18n.js";
import { getPicture } from "./pictures.js";
import { currentMinute } from "./session.js";

const dialog = () => byId("enlarged");
let showPage = () => {};
export const isEnlarged = () => dialog().open;

/** Show the picture in full size, or close it. */
export function toggleEnlarged() {
  if (isEnlarged()) { dialog().close(); return; }
  if (currentMinute()?.picture !== "there") return;
  dialog().showModal();
  byId("enlarged-sheet").focus();
  showPage();
}

/** Follow the current minute; close when it has no picture. */
export function showEnlarged() {
  if (!isEnlarged()) return;
  const row = currentMinute();
  if (row?.picture !== "there") { dialog().close(); return; }
  const image = getPicture(row);
  const box = byId("enlarged-sheet");
  if (box.firstElementChild !== image) {
    box.replaceChildren(image); // from the page, which takes it back: its file is not loaded again
    box.scrollTo(0, 0);
  }
  setText(byId("enlarged-title"), byId("minute").querySelector("h1").textContent);
  setText(byId("enlarged-counts"), t("minute.counts", { entered: row.entered, left: row.left }));
}

/** Start the dialog; `show()` updates the page and the dialog. */
export function startEnlarged(show) {
  showPage = show;
  byId("enlarge").addEventListener("click", (event) => {
    toggleEnlarged();
    if (event.detail > 0) byId("enlarge").blur(); // clicked: Enter counts the minute again
  });
  byId("enlarged-close").append(icon("remove"));
  byId("enlarged-close").addEventListener("click", toggleEnlarged);
  byId("enlarged-sheet").addEventListener("click", toggleEnlarged);
  dialog().addEventListener("close", show);
}

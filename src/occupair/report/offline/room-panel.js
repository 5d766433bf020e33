// A panel with the details of a room, beside the table; on a narrow screen it covers the page.

function createPanel({ title, content: contentOf, onClose, onStep }) {
  const panel = byId("panel");
  const close = el("button", { type: "button", class: "icon-button", "aria-label": "Close" }, "✕");
  const previous = el("button", { type: "button", class: "icon-button", "aria-label": "Previous room" }, "↑");
  const next = el("button", { type: "button", class: "icon-button", "aria-label": "Next room" }, "↓");
  const heading = el("h3", { id: "panel-room", dir: "auto", tabindex: "-1" });
  const content = el("div");
  panel.append(el("div", { class: "panel-head" }, heading, previous, next, close), content);
  close.addEventListener("click", onClose);
  previous.addEventListener("click", () => onStep(-1));
  next.addEventListener("click", () => onStep(1));
  panel.addEventListener("keydown", (event) => { if (event.key === "Escape") { event.preventDefault(); onClose(); } });

  return {
    show(room) {
      heading.textContent = title(room);
      content.replaceChildren(...contentOf(room));
      if (panel.hidden) panel.hidden = false;
      panel.scrollTop = 0;
    },
    hide() { panel.hidden = true; },
    focus: () => heading.focus({ preventScroll: true }),
    covers: () => getComputedStyle(panel).position === "fixed",
    holdsFocus: () => panel.contains(document.activeElement),
  };
}

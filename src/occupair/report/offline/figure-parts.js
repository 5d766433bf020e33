// Parts of figures: a tooltip, labels and ticks.

function createTip() {
  const tip = byId("tip");
  return {
    show(event, ...lines) {
      tip.replaceChildren(...lines.map((line, k) => el(k ? "span" : "b", { dir: "auto" }, line)));
      tip.hidden = false;
      const { width, height } = tip.getBoundingClientRect();
      tip.style.left = `${Math.max(8, Math.min(event.clientX + 14, document.documentElement.clientWidth - width - 8))}px`;
      tip.style.top = `${event.clientY + height + 24 > window.innerHeight ? event.clientY - height - 12 : event.clientY + 16}px`;
    },
    hide() { tip.hidden = true; },
  };
}

const label = (text, attributes) => svg("text", attributes, text);

/** A step of 1, 2 or 5 times a power of ten, for at most `count` ticks up to `most`. */
function tickStep(most, count) {
  const rough = Math.max(1, most / count), power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough);
}

// The outdoor air that the service recommends for the people in a room.

import { el, setText } from "./dom.js";
import { formatPercent } from "./format.js";
import { formatNumber, t } from "./i18n.js";

const formatFlow = (value) => t("outdoorAir.flow", { value: formatNumber(Math.round(value)) });

/** Which count the flow is for, or why it is the design flow. */
function describePeople({ people, outdoor_air_people: planned }, confidence) {
  if (planned === null) return people === null ? t("outdoorAir.unknown") : t("outdoorAir.noInterval");
  const count = Math.floor(planned + 1e-9); // as many as the flow is enough for
  const text = count ? t("outdoorAir.people", { count }) : t("outdoorAir.empty");
  return t("outdoorAir.confidence", { text, confidence: formatPercent(confidence) });
}

function describeStandard({ standard, category, space }) {
  return category === null ? `${standard}, ${space}` : t("outdoorAir.category", { standard, category });
}

/** Create the card, which is hidden unless the room has settings for outdoor air. */
export function createOutdoorAirCard(room) {
  const settings = room.outdoor_air;
  const node = el("section", { class: "card", id: "outdoor-air-card", "aria-labelledby": "outdoor-air-title", hidden: true });
  if (!settings) return { node, update: () => {} };
  const [flow, people] = [el("span", { id: "outdoor-air-flow" }), el("p", { id: "outdoor-air-people" })];
  const bar = el("div", { class: "outdoor-air-bar", "aria-hidden": "true" });
  const damper = el("dd", { id: "outdoor-air-damper" });
  const facts = [
    [t("outdoorAir.damper"), damper],
    [t("outdoorAir.design", { count: settings.design_people }), el("dd", {}, formatFlow(settings.design_flow))],
    [t("outdoorAir.range"), el("dd", {}, t("outdoorAir.between", {
      low: formatNumber(Math.round(settings.minimum)), high: formatNumber(Math.round(settings.maximum)) }))],
    [t("outdoorAir.standard"), el("dd", {}, describeStandard(settings))],
  ];
  node.append(
    el("h2", { id: "outdoor-air-title" }, t("outdoorAir.title")),
    el("p", { class: "outdoor-air-flow" }, flow), people, bar,
    el("dl", { class: "air-facts" }, ...facts.map(([name, value]) => el("div", {}, el("dt", {}, name), value))),
    el("p", { class: "outdoor-air-note" }, t("outdoorAir.note")));

  function update({ state }) {
    const isKnown = typeof state?.outdoor_air === "number";
    node.hidden = !isKnown;
    if (!isKnown) return;
    node.dataset.fallback = state.outdoor_air_people === null ? "yes" : "";
    setText(flow, formatFlow(state.outdoor_air));
    setText(people, describePeople(state, settings.confidence));
    setText(damper, formatPercent(state.damper));
    bar.style.setProperty("--full", state.outdoor_air / settings.maximum);
  }
  update(room);
  return { node, update };
}

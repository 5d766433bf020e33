// The details of a room: all fields.

function detailParts(room) {
  const number = (name, format, unit = "") => {
    const text = format(numberOf(name, room));
    return text === DASH || !unit ? text : text + NBSP + unit;
  };
  const badge = (label, name) => el("li", {}, el("small", {}, label), icon(classOf(name, room)), classOf(name, room));
  const badges = el("ul", { class: "badges" }, badge("Trust", "trust"), badge("Sensor", "sensor"));
  const texts = [
    ["Advice", "advice", "advice"], [classOf("status", room) === "failed" ? "Why there is no model" : "Why a fallback", "reason"],
    ["Why this trust", "trust_reason"], ["Findings on the readings", "findings"],
  ].filter(([, name]) => textOf(name, room)).map(([label, name, style = ""]) => (
    el("div", { class: `text ${style}` }, el("h4", {}, label), el("p", { dir: "auto" }, asSentence(textOf(name, room))))));
  const first = textOf("first", room), last = textOf("last", room);
  return [
    badges, ...texts,
    fieldList("Accuracy on held-out days", [
      ["Error, live", number("error", formatTwo, "people")],
      ["Error, refined after 10 min", number("error_10", formatTwo, "people")],
      ["Error, refined after 20 min", number("error_20", formatTwo, "people")],
      ["nRMSE", number("nrmse", formatTwo)],
      ["Coverage of the 90" + NBSP + "% interval", number("coverage", formatPercent)],
      ["Coverage while occupied", number("occupied_coverage", formatPercent)],
      ["Error of the clock alone", number("clock_error", formatTwo, "people")],
      ["CO2 adds", number("co2_gain", formatPercent)],
    ]),
    fieldList("Readings", [
      ["Period", first || last ? `${first || DASH} to ${last || DASH}` : DASH],
      ["Time zone", textOf("timezone", room) || "local time"],
      ["Days", number("days", formatCount)],
      ["Labelled days", number("labelled_days", formatCount)],
      ["Readings", number("readings", formatCount)],
      ["Interval", number("interval", formatUpTo(2), "min")],
      ["Missing", number("missing", formatPercent)],
      ["Ventilation readings", DATA.ventilation[room] ? "yes" : "no"],
    ]),
    fieldList("Room", [
      ["Most people in training", number("most_people", formatUpTo(1))],
      ["Seats", number("capacity", formatUpTo(1))],
      ["Air volume", number("volume", formatUpTo(1), "m³")],
    ]),
    fieldList("Model", [
      ["Status", classOf("status", room)],
      ["Trained on", classOf("basis", room) || DASH],
      ["File", textOf("model", room) || DASH],
      ["Size", number("model_bytes", formatCount, "bytes")],
      ["Fingerprint", DATA.fingerprint[room] || DASH],
      ["Time spent", number("seconds", formatOne, "s")],
    ]),
  ];
}

function fieldList(heading, fields) {
  const rows = fields.map(([label, value]) => el("div", {}, el("dt", {}, label), el("dd", { dir: "auto" }, value)));
  return el("div", { class: "fields" }, el("h4", {}, heading), el("dl", {}, ...rows));
}

/** The icon of a state in a cell of the table. */
function stateIcon() {
  const node = icon("none");
  return {
    node,
    update(room, value) {
      node.setAttribute("class", `icon ${value}`);
      node.firstChild.setAttribute("href", `#icon-${value}`);
    },
  };
}

// Two figures of the rooms in view: a histogram of the nRMSE (SVG) and what CO2 adds over the clock (canvas).
// Classes of trust differ in colour and in hatching or shape.

const FIGURE_HEIGHT = 260;  // [px]
const EDGE = { left: 46, right: 14, top: 12, bottom: 40 };  // [px]
const BIN = 0.05, MOST_NRMSE = 1.5;  // the last bin holds all above
const GAIN = { low: -0.5, high: 1 };  // marks beyond are drawn at the edge
const NEAR = 14;  // a mark can be selected from this distance [px]
const TRUST_WITH_ERROR = ["good", "limited", "poor", "none"];
const SHAPES = {
  good: (path, r) => path.arc(0, 0, r, 0, 2 * Math.PI),
  limited: (path, r) => path.rect(-r, -r, 2 * r, 2 * r),
  poor: (path, r) => { path.moveTo(0, -1.3 * r); path.lineTo(1.25 * r, r); path.lineTo(-1.25 * r, r); path.closePath(); },
  none: (path, r) => { path.moveTo(-r, -r); path.lineTo(r, r); path.moveTo(r, -r); path.lineTo(-r, r); },
};

function createFigures({ onRange, onOpen }) {
  const tip = createTip();
  const histogram = createHistogram(byId("histogram"), { onRange, tip });
  const scatter = createScatter(byId("scatter"), { onOpen, tip });
  const styles = getComputedStyle(document.documentElement);
  const colour = (name) => styles.getPropertyValue(name).trim();
  let last = null;
  const draw = () => { if (last) { histogram(last); scatter(last, colour); } };
  new ResizeObserver(draw).observe(byId("figures"));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  return { draw(shown) { last = shown; draw(); } };
}

const inner = (box) => ({ width: Math.max(120, box.clientWidth) - EDGE.left - EDGE.right, height: FIGURE_HEIGHT - EDGE.top - EDGE.bottom });

function nrmseAxis(width, height, name) {
  const ticks = [0, 0.25, 0.5, 0.75, 1, 1.25, MOST_NRMSE].map((value) => label(
    value === MOST_NRMSE ? `${value}+` : String(value), { x: EDGE.left + value / MOST_NRMSE * width, y: EDGE.top + height + 17, "text-anchor": "middle" }));
  return [...ticks, label(name, { x: EDGE.left + width / 2, y: FIGURE_HEIGHT - 3, "text-anchor": "middle", class: "axis" })];
}

function createHistogram(box, { onRange, tip }) {
  const bins = Math.round(MOST_NRMSE / BIN) + 1;
  return ({ anyError, range }) => {
    const counts = Array.from({ length: bins }, () => Object.fromEntries(TRUST_WITH_ERROR.map((name) => [name, 0])));
    for (const room of anyError) {
      const nrmse = numberOf("nrmse", room);
      if (nrmse !== null) counts[Math.max(0, Math.min(bins - 1, Math.floor(nrmse / BIN + 1e-9)))][classOf("trust", room)]++;
    }
    const totals = counts.map((count) => Object.values(count).reduce((a, b) => a + b));
    const { width, height } = inner(box), step = width / (bins - 1);
    const every = tickStep(Math.max(...totals, 1), 4), top = Math.max(every, Math.ceil(Math.max(...totals) / every) * every);
    const up = (count) => EDGE.top + height * (1 - count / top);
    const picture = svg("svg", { width: width + EDGE.left + EDGE.right, height: FIGURE_HEIGHT, role: "img", "aria-label": "Number of rooms by nRMSE, by trust" }, hatches());
    for (let count = 0; count <= top; count += every) {
      picture.append(svg("line", { class: "grid", x1: EDGE.left, x2: EDGE.left + width, y1: up(count), y2: up(count) }),
        label(grouped.format(count), { x: EDGE.left - 6, y: up(count) + 4, "text-anchor": "end" }));
    }
    counts.forEach((count, bin) => {
      const low = (bin * BIN).toFixed(2), high = bin < bins - 1 ? ((bin + 1) * BIN).toFixed(2) : "";
      const place = { x: EDGE.left + bin * step - (bin === bins - 1 ? 4 : 0), width: step };
      const chosen = range && Math.abs(range.low - low) < 1e-6;
      const bar = svg("g", { class: `bin${range && !chosen ? " dimmed" : ""}` });
      let sum = 0;
      for (const name of TRUST_WITH_ERROR) {
        if (!count[name]) continue;
        bar.append(svg("rect", { class: name, x: place.x + 0.5, width: Math.max(1, step - 1), y: up(sum + count[name]), height: up(sum) - up(sum + count[name]) }));
        sum += count[name];
      }
      bar.append(svg("rect", { class: "target", x: place.x, width: step, y: EDGE.top, height }));
      const parts = TRUST_WITH_ERROR.filter((name) => count[name]).map((name) => `${formatCount(count[name])} ${name}`).join(", ");
      bar.addEventListener("pointermove", (event) => tip.show(event, `nRMSE ${high ? `${low} to ${high}` : `${low} or more`}`, parts || "no rooms"));
      bar.addEventListener("pointerleave", tip.hide);
      bar.addEventListener("click", () => { tip.hide(); if (sum) onRange(`${low}-${high}`); });
      picture.append(bar);
    });
    const one = EDGE.left + width / MOST_NRMSE;
    picture.append(svg("line", { class: "mark", x1: one, x2: one, y1: EDGE.top, y2: EDGE.top + height }), ...nrmseAxis(width, height, "nRMSE"));
    box.replaceChildren(picture);
  };
}

function hatches() {
  const hatch = (name, angle) => svg("pattern", { id: `hatch-${name}`, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: `rotate(${angle})` },
    svg("rect", { class: `base ${name}`, width: 5, height: 5 }), svg("line", { class: "stripe", x1: 0, x2: 0, y1: 0, y2: 5 }));
  return svg("defs", {}, hatch("limited", 45), hatch("poor", -45));
}

function createScatter(box, { onOpen, tip }) {
  const canvas = el("canvas", { role: "img", "aria-label": "What CO2 adds over the clock against nRMSE, one mark per room" });
  let points = [];
  const nearest = (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    const x = event.clientX - left, y = event.clientY - top;
    let best = null, distance = NEAR ** 2;
    for (const point of points) {
      const d = (point.x - x) ** 2 + (point.y - y) ** 2;
      if (d < distance) { best = point; distance = d; }
    }
    return best;
  };
  canvas.addEventListener("pointermove", (event) => {
    const point = nearest(event);
    canvas.classList.toggle("over", point !== null);
    if (!point) { tip.hide(); return; }
    const room = point.room;
    tip.show(event, roomName(room), `nRMSE ${formatTwo(numberOf("nrmse", room))}, CO2 adds ${formatPercent(numberOf("co2_gain", room))}`,
      `Trust ${classOf("trust", room)}, sensor ${classOf("sensor", room)}`);
  });
  canvas.addEventListener("pointerleave", tip.hide);
  canvas.addEventListener("click", (event) => { const point = nearest(event); tip.hide(); if (point) onOpen(point.room); });

  return ({ rooms, filtered, open }, colour) => {
    const { width, height } = inner(box), scale = window.devicePixelRatio || 1;
    const size = { width: width + EDGE.left + EDGE.right, height: FIGURE_HEIGHT };
    const toX = (nrmse) => EDGE.left + Math.max(0, Math.min(nrmse, MOST_NRMSE)) / MOST_NRMSE * width;
    const toY = (gain) => EDGE.top + (GAIN.high - Math.max(GAIN.low, Math.min(gain, GAIN.high))) / (GAIN.high - GAIN.low) * height;
    const known = (list) => {
      const found = [];
      for (const room of list) {
        const x = numberOf("nrmse", room), y = numberOf("co2_gain", room);
        if (x !== null && y !== null) found.push({ room, x: toX(x), y: toY(y) });
      }
      return found;
    };
    const frame = svg("svg", { width: size.width, height: size.height, "aria-hidden": "true" });
    for (const gain of [-0.5, 0, 0.5, 1]) {
      frame.append(svg("line", { class: gain ? "grid" : "mark", x1: EDGE.left, x2: EDGE.left + width, y1: toY(gain), y2: toY(gain) }),
        label(formatPercent(gain), { x: EDGE.left - 6, y: toY(gain) + 4, "text-anchor": "end" }));
    }
    frame.append(...nrmseAxis(width, height, "nRMSE"));
    canvas.width = Math.round(size.width * scale);
    canvas.height = Math.round(size.height * scale);
    canvas.style.width = `${size.width}px`;
    canvas.style.height = `${size.height}px`;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    points = known(rooms);
    const radius = points.length > 2000 ? 2.2 : points.length > 200 ? 3 : 4.5;
    if (filtered) {
      pen.fillStyle = colour("--muted");
      pen.globalAlpha = 0.18;
      for (const { x, y } of known(DATA.room.keys())) pen.fillRect(x - 1, y - 1, 2, 2);
    }
    pen.globalAlpha = points.length > 2000 ? 0.65 : 0.85;
    const stamps = Object.fromEntries(TRUST_WITH_ERROR.map((name) => [name, stamp(name, radius, scale, colour(`--fill-${name}`))]));
    const half = 2 * radius + 1;
    for (const { room, x, y } of points) pen.drawImage(stamps[classOf("trust", room)], x - half, y - half, 2 * half, 2 * half);
    const [chosen] = open < 0 ? [] : known([open]);
    if (chosen) {
      pen.globalAlpha = 1;
      pen.strokeStyle = colour("--ink");
      pen.lineWidth = 2;
      pen.beginPath();
      pen.arc(chosen.x, chosen.y, radius + 4, 0, 2 * Math.PI);
      pen.stroke();
    }
    box.replaceChildren(frame, canvas);
  };
}

/** A mark of a class of trust, drawn once and copied to every room. */
function stamp(name, radius, scale, colour) {
  const size = Math.ceil(2 * (2 * radius + 1) * scale);
  const canvas = el("canvas");
  canvas.width = canvas.height = size;
  const pen = canvas.getContext("2d");
  pen.translate(size / 2, size / 2);
  pen.scale(scale, scale);
  pen.fillStyle = pen.strokeStyle = colour;
  pen.lineWidth = 1.2;
  pen.beginPath();
  SHAPES[name](pen, radius);
  if (name === "none") pen.stroke();
  else pen.fill();
  return canvas;
}

// The occupancy of a day from its counts, and its chart.

import { t } from "./i18n.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 320;
const HEIGHT = 112;
const LEFT = 24;
const RIGHT = 6;
const TOP = 8;
const BOTTOM = 18;

export const dayOf = (minute) => minute.minute.slice(0, 10);
export const timeOf = (minute) => minute.minute.slice(11, 16);
export const formatSigned = (number) => String(number).replace("-", "−");
const minuteOfDay = (time) => 60 * Number(time.slice(11, 13)) + Number(time.slice(14, 16));
const positionOf = (minute) => minuteOfDay(minute.minute);

/** Periods of a day without video, in minutes of the day. */
export function findGaps(gaps, day) {
  return gaps.filter((gap) => gap.from.slice(0, 10) <= day && gap.to.slice(0, 10) >= day).map((gap) => ({
    door: gap.door,
    from: gap.from.slice(0, 10) < day ? 0 : minuteOfDay(gap.from),
    to: gap.to.slice(0, 10) > day ? 1440 : minuteOfDay(gap.to),
  }));
}

/**
 * Compute the occupancy after each counted minute of a day, from 0 at midnight, over all doors.
 *
 * Also returns the first minute with a negative occupancy and the number of minutes that are not counted yet.
 */
export function computeOccupancy(minutes, day) {
  const rows = minutes.filter((row) => dayOf(row) === day);
  const steps = [];
  let people = 0;
  let open = 0;
  let negative = null;
  for (let i = 0; i < rows.length;) {
    let change = 0;
    let last = i;
    let hasNumbers = false;
    for (; last < rows.length && rows[last].minute === rows[i].minute; last += 1) {
      change += rows[last].entered - rows[last].left;
      hasNumbers ||= rows[last].state !== "open";
      if (rows[last].state === "open" || rows[last].state === "begun") open += 1;
    }
    people += change;
    if (people < 0 && negative === null) negative = { row: rows[i], people, open };
    steps.push({ row: rows[i], at: positionOf(rows[i]), people, hasNumbers });
    i = last;
  }
  return { rows, steps, negative, open, people };
}

function draw(tag, given, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(given)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

const formatHour = (at) => `${String(Math.floor(at / 60)).padStart(2, "0")}:00`;

/** Draw a day; `shown` is the current minute, or null. */
export function createChart({ rows, steps, people }, gaps, shown) {
  const first = 60 * Math.floor(steps[0].at / 60);
  const end = Math.max(first + 60, 60 * Math.ceil((steps.at(-1).at + 1) / 60));
  const low = Math.min(0, ...steps.map((step) => step.people));
  const high = Math.max(4, ...steps.map((step) => step.people));
  const x = (at) => LEFT + ((WIDTH - LEFT - RIGHT) * (at - first)) / (end - first);
  const y = (number) => TOP + ((HEIGHT - TOP - BOTTOM) * (high - number)) / (high - low);
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img" });
  const highest = Math.max(...steps.map((step) => step.people));
  svg.setAttribute("aria-label", t("day.chart", { highest, lowest: formatSigned(low), end: formatSigned(people) }));

  for (const gap of gaps) {
    const [from, to] = [Math.max(first, gap.from), Math.min(end, gap.to)];
    if (from < to) svg.append(draw("rect", { class: "gap", x: x(from), width: x(to) - x(from), y: TOP, height: HEIGHT - TOP - BOTTOM }));
  }
  svg.append(draw("line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: y(high), y2: y(high) }));
  svg.append(draw("text", { x: LEFT - 6, y: y(high) + 4, "text-anchor": "end" }, high));
  if (low < 0) svg.append(draw("text", { x: LEFT - 6, y: y(low) + 4, "text-anchor": "end" }, formatSigned(low)));
  svg.append(draw("text", { x: LEFT - 6, y: y(0) + 4, "text-anchor": "end" }, "0"));
  svg.append(draw("text", { x: LEFT, y: HEIGHT - 2 }, formatHour(first)));
  svg.append(draw("text", { x: WIDTH - RIGHT, y: HEIGHT - 2, "text-anchor": "end" }, formatHour(end)));

  // up to the last counted minute; from there on the occupancy is unknown
  const known = steps.findLastIndex((step) => step.hasNumbers) + 1;
  const isWhole = known === steps.length;
  let path = `M${x(first)} ${y(0)}`;
  for (const step of steps.slice(0, known)) path += `H${x(step.at).toFixed(1)}V${y(step.people).toFixed(1)}`;
  path += `H${x(isWhole ? end : steps[Math.max(0, known - 1)].at + 1)}`;
  if (!isWhole) svg.append(draw("line", { class: people < 0 ? "ahead under" : "ahead", x1: x(known ? steps[known - 1].at + 1 : first), x2: x(end), y1: y(people), y2: y(people) }));
  const clip = (id, top, bottom) => {
    const box = draw("clipPath", { id });
    box.append(draw("rect", { x: 0, y: top, width: WIDTH, height: Math.max(0, bottom - top) }));
    return box;
  };
  svg.append(clip("above", 0, y(0) + 1), clip("under", y(0) + 1, HEIGHT));
  svg.append(draw("path", { class: "area", d: `${path}V${y(0)}Z`, "clip-path": "url(#above)" }));
  svg.append(draw("path", { class: "below", d: `${path}V${y(0)}Z`, "clip-path": "url(#under)" }));
  svg.append(draw("line", { class: "zero", x1: LEFT, x2: WIDTH - RIGHT, y1: y(0), y2: y(0) }));
  svg.append(draw("path", { class: "steps", d: path, "clip-path": "url(#above)" }));
  svg.append(draw("path", { class: "steps under", d: path, "clip-path": "url(#under)" }));

  const after = new Map(steps.map((step) => [step.row.minute, step]));
  for (const row of rows) {
    const step = after.get(row.minute);
    if (row.state === "open") {
      svg.append(draw("line", { class: "open", x1: x(positionOf(row)), x2: x(positionOf(row)), y1: HEIGHT - BOTTOM + 1, y2: HEIGHT - BOTTOM + 5 }));
    } else if (row.state === "unsure" || row.state === "skipped") {
      svg.append(draw("circle", { class: "doubt", cx: x(positionOf(row)), cy: y(step.people), r: 3 }));
    }
  }
  if (shown) {
    const at = x(positionOf(shown));
    svg.append(draw("line", { class: "here", x1: at, x2: at, y1: TOP - 4, y2: HEIGHT - BOTTOM + 5 }));
  }
  return svg;
}

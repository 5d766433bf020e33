// What a day looks like, as Plotly takes it: CO2 raw and smoothed, the count with its range, ventilation.

import { interval } from "./day.js";
import { wall } from "./zones.js";

const MINUTE = 60000;
const DAY = 24 * 60 * MINUTE;
const DOMAINS = { co2: [0.62, 1], people: [0.13, 0.53], air: [0, 0.035] };
export const MARGIN = { l: 40, r: 12, t: 36, b: 28 };
const HEIGHT = 520;

const COLOURS = ["ink", "muted", "line", "surface", "chart-raw", "chart-co2", "chart-people", "chart-band",
  "chart-yesterday", "chart-label", "chart-air", "chart-gap"];

/** The theme's colours by name, without "chart-". */
function colours() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(`--${name}`).trim();
  return Object.fromEntries(COLOURS.map((name) => [name.replace("chart-", ""), value(name)]));
}

/** Wall-clock time as Plotly takes it, without any zone of its own. */
const written = (time) => new Date(time).toISOString().slice(0, 23);

/** Runs of rows with a value and no hole between them. */
function runs(rows, has, step) {
  const found = [];
  let run = [];
  for (const row of rows) {
    if (run.length && (!has(row) || row.time - run.at(-1).time > 2 * step)) {
      found.push(run);
      run = [];
    }
    if (has(row)) run.push(row);
  }
  if (run.length) found.push(run);
  return found;
}

/** The range as steps, one closed shape per run: holes in the day stay holes. */
function band(rows, x, step) {
  const out = { x: [], y: [] };
  for (const run of runs(rows, (row) => row.low !== null && row.high !== null, step)) {
    const until = (i) => x(i + 1 < run.length ? run[i + 1].time : run[i].time + step);
    run.forEach((row, i) => {
      out.x.push(x(row.time), until(i));
      out.y.push(row.high, row.high);
    });
    for (let i = run.length - 1; i >= 0; i -= 1) {
      out.x.push(until(i), x(run[i].time));
      out.y.push(run[i].low, run[i].low);
    }
    out.x.push(null);
    out.y.push(null);
  }
  return out;
}

/** A line with a null wherever there is a hole; its last step lasts as long as the others. */
function line(rows, x, value, step) {
  const out = { x: [], y: [] };
  for (const run of runs(rows, (row) => value(row) !== null, step)) {
    for (const row of run) {
      out.x.push(x(row.time));
      out.y.push(value(row));
    }
    out.x.push(x(run.at(-1).time + step), null);
    out.y.push(value(run.at(-1)), null);
  }
  return out;
}

const whole = (row) => (row.people === null ? null : Math.round(row.people));
const labelsOf = (day) => day.labels.filter((label) => label.at >= day.start && label.at < day.end);

/** The seven things drawn: CO2 raw, CO2 smoothed, range, the day before, count, ventilation, labels. */
export function traces(day) {
  const c = colours();
  const x = (time) => written(wall(day.zone, time));
  const later = (time) => written(wall(day.zone, time) + DAY);
  const step = interval(day.estimates);
  const before = interval(day.yesterday);
  const labels = labelsOf(day);
  const all = { type: "scatter", mode: "lines", hoverinfo: "skip", showlegend: false };
  const diamond = { symbol: "diamond", size: 11, color: c.label, line: { color: c.surface, width: 2 } };
  return [
    { ...all, ...line(day.estimates, x, (row) => row.co2, step), line: { color: c.raw, width: 1 } },
    { ...all, ...line(day.estimates, x, (row) => row.smoothed, step), line: { color: c.co2, width: 2.25 } },
    { ...all, ...band(day.estimates, x, step), yaxis: "y2", fill: "toself", fillcolor: c.band, line: { width: 0 } },
    { ...all, ...line(day.yesterday, later, whole, before), yaxis: "y2",
      line: { color: c.yesterday, width: 1.5, shape: "hv", dash: "2px,2px" } },
    { ...all, ...line(day.estimates, x, whole, step), yaxis: "y2", line: { color: c.people, width: 2.25, shape: "hv" } },
    { ...all, ...line(day.estimates, x, (row) => row.ventilation, step), yaxis: "y3",
      fill: "tozeroy", fillcolor: c.air, line: { width: 0, shape: "hv" } },
    { ...all, mode: "markers", x: labels.map((label) => x(label.at)), y: labels.map((label) => label.people),
      yaxis: "y2", cliponaxis: false, marker: diamond },
  ];
}

/** Grey where the day has readings but no count. */
function unknowns(day, c) {
  const step = interval(day.estimates);
  return runs(day.estimates, (row) => row.people === null, step).map((run) => ({
    type: "rect", layer: "below", xref: "x", yref: "y2 domain", y0: 0, y1: 1, line: { width: 0 }, fillcolor: c.gap,
    x0: written(wall(day.zone, run[0].time)), x1: written(wall(day.zone, run.at(-1).time + step)),
  }));
}

function nowLine(day, c, now) {
  if (!day.holds(now)) return [];
  const at = written(wall(day.zone, now));
  const line = { color: c.muted, width: 1, dash: "dot" };
  return [{ type: "line", layer: "below", xref: "x", yref: "paper", x0: at, x1: at, y0: 0, y1: 1, line }];
}

const most = (least, values) => values.reduce((top, value) => Math.max(top, value ?? 0), least);

/** The highest count there is to show [people]. */
function mostPeople(day) {
  const today = day.estimates.map((row) => row.high ?? row.people);
  return most(4, [...today, ...day.yesterday.map((row) => row.people), ...labelsOf(day).map((label) => label.people)]);
}

function title(text, domain, c) {
  return {
    text, showarrow: false, xref: "paper", yref: "paper", x: 0, y: domain[1], xanchor: "left", yanchor: "bottom",
    xshift: 2 - MARGIN.l, yshift: 10, font: { size: 13, color: c.ink, weight: 600 },
  };
}

export function layout(day, width, now) {
  const c = colours();
  const start = wall(day.zone, day.start);
  const ends = [written(start), written(start + DAY)];
  const hours = width < 480 ? 6 : width < 900 ? 3 : 2;
  const axis = { gridcolor: c.line, zeroline: false, tickfont: { size: 12, color: c.muted } };
  const y = { ...axis, fixedrange: true, nticks: 5 };
  const topCo2 = Math.ceil(most(900, day.estimates.map((row) => row.co2)) / 100 + 0.5) * 100;
  return {
    margin: MARGIN, height: HEIGHT, width, autosize: false, showlegend: false, hovermode: false, uirevision: day.day,
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    dragmode: matchMedia("(pointer: fine)").matches ? "zoom" : false, // a finger scrolls the page
    font: { family: getComputedStyle(document.body).fontFamily, color: c.muted },
    xaxis: {
      ...axis, type: "date", range: ends, minallowed: ends[0], maxallowed: ends[1], anchor: "y3",
      tick0: ends[0], dtick: hours * 60 * MINUTE, tickformat: "%H:%M",
    },
    yaxis: { ...y, domain: DOMAINS.co2, range: [350, topCo2] },
    yaxis2: { ...y, domain: DOMAINS.people, range: [0, mostPeople(day) * 1.12], tickformat: "d" },
    yaxis3: { ...y, domain: DOMAINS.air, range: [0, 1], showticklabels: false, showgrid: false },
    annotations: [
      title("CO₂ [ppm]", DOMAINS.co2, c), title("People", DOMAINS.people, c), title("Ventilation", DOMAINS.air, c),
    ],
    shapes: [...unknowns(day, c), ...nowLine(day, c, now)],
  };
}

// The Plotly figure of a day: CO2 measured and smoothed, occupancy with prediction interval, ventilation.

import { samplingInterval } from "./day.js";
import { t } from "./i18n.js";
import { toLocal } from "./time-zones.js";

const MINUTE = 60000;
const DAY = 24 * 60 * MINUTE;
const DOMAINS = { co2: [0.62, 1], people: [0.13, 0.53], ventilation: [0, 0.035] };
export const MARGIN = { l: 40, r: 12, t: 36, b: 28 };
const HEIGHT = 520;

const COLOURS = ["ink", "muted", "line", "surface", "chart-raw", "chart-co2", "chart-people", "chart-band",
  "chart-yesterday", "chart-label", "chart-air", "chart-gap"];

/** Colours of the theme by name, without "chart-". */
function themeColours() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(`--${name}`).trim();
  return Object.fromEntries(COLOURS.map((name) => [name.replace("chart-", ""), value(name)]));
}

/** A local time in the format of Plotly, which has no time zones. */
const plotlyTime = (time) => new Date(time).toISOString().slice(0, 23);

/** Split rows into runs that have a value and no gap. */
function splitRuns(rows, has, step) {
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

/** Prediction interval as steps, one closed polygon per run, so gaps stay gaps. */
function intervalBand(rows, x, step) {
  const out = { x: [], y: [] };
  for (const run of splitRuns(rows, (row) => row.low !== null && row.high !== null, step)) {
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

/** A line with a null at every gap; its last step is as long as the others. */
function lineWithGaps(rows, x, value, step) {
  const out = { x: [], y: [] };
  for (const run of splitRuns(rows, (row) => value(row) !== null, step)) {
    for (const row of run) {
      out.x.push(x(row.time));
      out.y.push(value(row));
    }
    out.x.push(x(run.at(-1).time + step), null);
    out.y.push(value(run.at(-1)), null);
  }
  return out;
}

const roundedPeople = (row) => (row.people === null ? null : Math.round(row.people));
const labelsOf = (day) => day.labels.filter((label) => label.at >= day.start && label.at < day.end);

/** The traces: CO2 raw, CO2 smoothed, prediction interval, day before, occupancy, ventilation, head counts. */
export function createTraces(day) {
  const c = themeColours();
  const x = (time) => plotlyTime(toLocal(day.zone, time));
  const nextDay = (time) => plotlyTime(toLocal(day.zone, time) + DAY);
  const step = samplingInterval(day.estimates);
  const previousStep = samplingInterval(day.previousDay);
  const labels = labelsOf(day);
  const all = { type: "scatter", mode: "lines", hoverinfo: "skip", showlegend: false };
  const diamond = { symbol: "diamond", size: 11, color: c.label, line: { color: c.surface, width: 2 } };
  return [
    { ...all, ...lineWithGaps(day.estimates, x, (row) => row.co2, step), line: { color: c.raw, width: 1 } },
    { ...all, ...lineWithGaps(day.estimates, x, (row) => row.smoothed, step), line: { color: c.co2, width: 2.25 } },
    { ...all, ...intervalBand(day.estimates, x, step), yaxis: "y2", fill: "toself", fillcolor: c.band, line: { width: 0 } },
    { ...all, ...lineWithGaps(day.previousDay, nextDay, roundedPeople, previousStep), yaxis: "y2",
      line: { color: c.yesterday, width: 1.5, shape: "hv", dash: "2px,2px" } },
    { ...all, ...lineWithGaps(day.estimates, x, roundedPeople, step), yaxis: "y2", line: { color: c.people, width: 2.25, shape: "hv" } },
    { ...all, ...lineWithGaps(day.estimates, x, (row) => row.ventilation, step), yaxis: "y3",
      fill: "tozeroy", fillcolor: c.air, line: { width: 0, shape: "hv" } },
    { ...all, mode: "markers", x: labels.map((label) => x(label.at)), y: labels.map((label) => label.people),
      yaxis: "y2", cliponaxis: false, marker: diamond },
  ];
}

/** Grey areas where there are readings but the occupancy is unknown. */
function unknownAreas(day, c) {
  const step = samplingInterval(day.estimates);
  return splitRuns(day.estimates, (row) => row.people === null, step).map((run) => ({
    type: "rect", layer: "below", xref: "x", yref: "y2 domain", y0: 0, y1: 1, line: { width: 0 }, fillcolor: c.gap,
    x0: plotlyTime(toLocal(day.zone, run[0].time)), x1: plotlyTime(toLocal(day.zone, run.at(-1).time + step)),
  }));
}

function nowLine(day, c, now) {
  if (!day.includes(now)) return [];
  const at = plotlyTime(toLocal(day.zone, now));
  const line = { color: c.muted, width: 1, dash: "dot" };
  return [{ type: "line", layer: "below", xref: "x", yref: "paper", x0: at, x1: at, y0: 0, y1: 1, line }];
}

const maximum = (least, values) => values.reduce((top, value) => Math.max(top, value ?? 0), least);

/** Upper limit of the occupancy axis [people]. */
function maxPeople(day) {
  const today = day.estimates.map((row) => row.high ?? row.people);
  return maximum(4, [...today, ...day.previousDay.map((row) => row.people), ...labelsOf(day).map((label) => label.people)]);
}

function axisTitle(text, domain, c) {
  return {
    text, showarrow: false, xref: "paper", yref: "paper", x: 0, y: domain[1], xanchor: "left", yanchor: "bottom",
    xshift: 2 - MARGIN.l, yshift: 10, font: { size: 13, color: c.ink, weight: 600 },
  };
}

export function createLayout(day, width, now) {
  const c = themeColours();
  const start = toLocal(day.zone, day.start);
  const ends = [plotlyTime(start), plotlyTime(start + DAY)];
  const hours = width < 480 ? 6 : width < 900 ? 3 : 2;
  const axis = { gridcolor: c.line, zeroline: false, tickfont: { size: 12, color: c.muted } };
  const y = { ...axis, fixedrange: true, nticks: 5 };
  const topCo2 = Math.ceil(maximum(900, day.estimates.map((row) => row.co2)) / 100 + 0.5) * 100;
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
    yaxis2: { ...y, domain: DOMAINS.people, range: [0, maxPeople(day) * 1.12], tickformat: "d" },
    yaxis3: { ...y, domain: DOMAINS.ventilation, range: [0, 1], showticklabels: false, showgrid: false },
    annotations: [
      axisTitle("CO₂ [ppm]", DOMAINS.co2, c), axisTitle(t("chart.people"), DOMAINS.people, c),
      axisTitle(t("ventilation"), DOMAINS.ventilation, c),
    ],
    shapes: [...unknownAreas(day, c), ...nowLine(day, c, now)],
  };
}

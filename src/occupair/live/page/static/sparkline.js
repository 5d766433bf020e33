// The occupancy of a room today, as a small line without axes.

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 24;
const LEAST_TOP = 3; // fewer people do not fill the height [people]

/** Create an empty sparkline, hidden from screen readers: the tile has a description. */
export function createSparkline() {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "spark");
  svg.setAttribute("viewBox", `0 0 48 ${HEIGHT}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  for (const name of ["spark-area", "spark-line"]) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("class", name);
    svg.append(path);
  }
  return svg;
}

/** Runs of known values, as [first index, values]. */
function runsOf(values) {
  const runs = [];
  values.forEach((value, i) => {
    if (value === null) return;
    const last = runs.at(-1);
    if (last && last[0] + last[1].length === i) last[1].push(value);
    else runs.push([i, [value]]);
  });
  return runs;
}

/** Paths of the line and of the area below it; unknown times are gaps. */
function sparkPaths(values) {
  const top = Math.max(LEAST_TOP, ...values.map((value) => value ?? 0));
  const y = (value) => (HEIGHT - 1 - (value / top) * (HEIGHT - 2)).toFixed(1);
  const runs = runsOf(values);
  const line = runs.map(([first, run]) => (
    `M${first} ${y(run[0])}${run.map((value, i) => `V${y(value)}H${first + i + 1}`).join("")}`)).join("");
  const area = runs.map(([first, run]) => (
    `M${first} ${HEIGHT}${run.map((value, i) => `V${y(value)}H${first + i + 1}`).join("")}V${HEIGHT}Z`)).join("");
  return { line, area };
}

/** Show values [people], if they are others than before. */
export function updateSparkline(svg, values) {
  if (svg.values === values) return;
  svg.values = values;
  const { line, area } = sparkPaths(values ?? []);
  svg.children[0].setAttribute("d", area);
  svg.children[1].setAttribute("d", line);
}

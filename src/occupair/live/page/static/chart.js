// The live chart of a day, with a cursor for pointer, touch and arrow keys.

import { estimateAt } from "./day.js";
import { el } from "./dom.js";
import { MARGIN, createLayout, createTraces } from "./figure.js";
import { t } from "./i18n.js";
import { createReadout } from "./readout.js";
import { formatTime, toLocal } from "./time-zones.js";

const MINUTE = 60000;
const REDRAW_INTERVAL = 500; // at most twice a second, however fast readings arrive [ms]
const CONFIG = { displayModeBar: false, scrollZoom: false, showTips: false };

let plotly = null;
/** Load Plotly when the first room is opened. */
function loadPlotly() {
  plotly ??= new Promise((resolve, reject) => {
    const script = el("script", { src: "assets/plotly.min.js" });
    script.addEventListener("load", () => resolve(window.Plotly));
    script.addEventListener("error", () => {
      plotly = null;
      script.remove();
      reject(new Error(t("chart.notLoaded")));
    });
    document.head.append(script);
  });
  return plotly;
}

export class DayChart {
  /** `now()` returns the time of the service [ms]. */
  constructor(box, now) {
    this.now = now;
    this.day = null;
    this.cursor = null; // selected time [ms]; null for the newest
    this.readout = createReadout();
    this.plot = el("div", { class: "plot" });
    this.cursorLine = el("div", { class: "rule", hidden: true });
    const aria = { role: "slider", "aria-label": t("chart.slider"), "aria-orientation": "horizontal" };
    this.frame = el("div", { class: "plot-frame", tabindex: "0", ...aria }, this.plot, this.cursorLine);
    box.append(this.readout.node, this.frame);
    this.addListeners();
  }

  addListeners() {
    const { frame } = this;
    frame.addEventListener("pointermove", (event) => this.onPointer(event));
    frame.addEventListener("pointerdown", (event) => this.onPointer(event));
    frame.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") this.select(null); });
    frame.addEventListener("keydown", (event) => this.onKey(event));
    frame.addEventListener("blur", () => this.select(null));
    this.resizeObserver = new ResizeObserver(() => this.scheduleDraw());
    this.resizeObserver.observe(frame);
  }

  show(day) {
    if (this.day !== day) this.cursor = null;
    this.day = day;
    this.scheduleDraw();
  }

  scheduleDraw() {
    if (this.timer || !this.day) return;
    const wait = Math.max(0, (this.drawnAt || 0) + REDRAW_INTERVAL - performance.now());
    this.timer = setTimeout(() => { this.timer = 0; this.draw(); }, wait);
  }

  async draw() {
    const Plotly = await loadPlotly().catch((error) => { this.plot.textContent = error.message; });
    const width = this.frame.clientWidth;
    if (!Plotly || this.isClosed || !width) return;
    this.drawnAt = performance.now();
    await Plotly.react(this.plot, createTraces(this.day), createLayout(this.day, width, this.now()), CONFIG);
    this.plot.dataset.drawn = String(this.day.estimates.length);
    this.select(this.cursor);
  }

  /** First and last visible time [ms]. */
  visibleRange() {
    const range = this.plot.layout?.xaxis?.range;
    if (!range) return [this.day.start, this.day.end];
    const start = toLocal(this.day.zone, this.day.start);
    return range.map((end) => Date.parse(`${String(end).replace(" ", "T")}Z`) - start + this.day.start);
  }

  onPointer(event) {
    if (!this.day || !this.plot.dataset.drawn) return;
    const box = this.frame.getBoundingClientRect();
    const [from, to] = this.visibleRange();
    const fraction = (event.clientX - box.left - MARGIN.l) / (box.width - MARGIN.l - MARGIN.r);
    this.select(fraction < 0 || fraction > 1 ? null : from + fraction * (to - from));
  }

  onKey(event) {
    if (!this.day) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape" && this.cursor !== null) this.select(null);
    else if (step) {
      const from = this.cursor ?? this.day.estimates.at(-1)?.time ?? this.day.start;
      const to = from + step * MINUTE * (event.shiftKey ? 30 : 1);
      this.select(Math.min(this.day.end - MINUTE, Math.max(this.day.start, to)));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Show the values at `time`; null for the newest. */
  select(time) {
    const { day, frame } = this;
    this.cursor = time;
    if (!day) return;
    const estimate = time === null ? day.estimates.at(-1) ?? null : estimateAt(day.estimates, time);
    const shown = time ?? estimate?.time ?? day.start;
    const previous = estimateAt(day.previousDay, shown - day.start + day.previousStart);
    const headCounts = day.labels.filter((label) => day.includes(label.at)).length;
    this.readout.show(formatTime(day.zone, shown), estimate, previous, headCounts);
    this.showCursor(time);
    frame.setAttribute("aria-valuemin", 0);
    frame.setAttribute("aria-valuemax", Math.round((day.end - day.start) / MINUTE));
    frame.setAttribute("aria-valuenow", Math.round((shown - day.start) / MINUTE));
    frame.setAttribute("aria-valuetext", this.readout.describe());
  }

  showCursor(time) {
    const [from, to] = time === null ? [0, 1] : this.visibleRange();
    const fraction = time === null ? -1 : (time - from) / (to - from);
    this.cursorLine.hidden = fraction < 0 || fraction > 1;
    this.cursorLine.style.left = `${MARGIN.l + fraction * (this.frame.clientWidth - MARGIN.l - MARGIN.r)}px`;
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
    this.resizeObserver.disconnect();
    if (window.Plotly) window.Plotly.purge(this.plot);
  }
}

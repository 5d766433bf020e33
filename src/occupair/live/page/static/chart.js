// The charts of a day, live, with a cursor that follows pointer, finger or arrow keys.

import { at } from "./day.js";
import { el } from "./dom.js";
import { MARGIN, layout, traces } from "./figure.js";
import { makeReadout } from "./readout.js";
import { clockText, wall } from "./zones.js";

const MINUTE = 60000;
const REDRAW = 500; // at most twice a second, however fast readings come [ms]
const CONFIG = { displayModeBar: false, scrollZoom: false, showTips: false };

let loading = null;
/** Plotly, fetched when the first room is opened. */
function plotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = el("script", { src: "assets/plotly.min.js" });
    script.addEventListener("load", () => resolve(window.Plotly));
    script.addEventListener("error", () => {
      loading = null;
      script.remove();
      reject(new Error("The charts could not be loaded."));
    });
    document.head.append(script);
  });
  return loading;
}

export class DayChart {
  /** `now()` gives the service's time [ms]. */
  constructor(box, now) {
    this.now = now;
    this.day = null;
    this.cursor = null; // the time that is read [ms]; null: the newest
    this.readout = makeReadout();
    this.plot = el("div", { class: "plot" });
    this.rule = el("div", { class: "rule", hidden: true });
    const aria = { role: "slider", "aria-label": "The day, minute by minute", "aria-orientation": "horizontal" };
    this.frame = el("div", { class: "plot-frame", tabindex: "0", ...aria }, this.plot, this.rule);
    box.append(this.readout.node, this.frame);
    this.listen();
  }

  listen() {
    const { frame } = this;
    frame.addEventListener("pointermove", (event) => this.point(event));
    frame.addEventListener("pointerdown", (event) => this.point(event));
    frame.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") this.read(null); });
    frame.addEventListener("keydown", (event) => this.key(event));
    frame.addEventListener("blur", () => this.read(null));
    this.watch = new ResizeObserver(() => this.later());
    this.watch.observe(frame);
  }

  show(day) {
    if (this.day !== day) this.cursor = null;
    this.day = day;
    this.later();
  }

  later() {
    if (this.timer || !this.day) return;
    const wait = Math.max(0, (this.drawnAt || 0) + REDRAW - performance.now());
    this.timer = setTimeout(() => { this.timer = 0; this.draw(); }, wait);
  }

  async draw() {
    const Plotly = await plotly().catch((failed) => { this.plot.textContent = failed.message; });
    const width = this.frame.clientWidth;
    if (!Plotly || this.closed || !width) return;
    this.drawnAt = performance.now();
    await Plotly.react(this.plot, traces(this.day), layout(this.day, width, this.now()), CONFIG);
    this.plot.dataset.drawn = String(this.day.estimates.length);
    this.read(this.cursor);
  }

  /** First and last time that is seen [ms]. */
  span() {
    const seen = this.plot.layout?.xaxis?.range;
    if (!seen) return [this.day.start, this.day.end];
    const start = wall(this.day.zone, this.day.start);
    return seen.map((end) => Date.parse(`${String(end).replace(" ", "T")}Z`) - start + this.day.start);
  }

  point(event) {
    if (!this.day || !this.plot.dataset.drawn) return;
    const box = this.frame.getBoundingClientRect();
    const [from, to] = this.span();
    const part = (event.clientX - box.left - MARGIN.l) / (box.width - MARGIN.l - MARGIN.r);
    this.read(part < 0 || part > 1 ? null : from + part * (to - from));
  }

  key(event) {
    if (!this.day) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape" && this.cursor !== null) this.read(null);
    else if (step) {
      const from = this.cursor ?? this.day.estimates.at(-1)?.time ?? this.day.start;
      const to = from + step * MINUTE * (event.shiftKey ? 30 : 1);
      this.read(Math.min(this.day.end - MINUTE, Math.max(this.day.start, to)));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Show what was said at `time`; null is the newest. */
  read(time) {
    const { day, frame } = this;
    this.cursor = time;
    if (!day) return;
    const row = time === null ? day.estimates.at(-1) ?? null : at(day.estimates, time);
    const shown = time ?? row?.time ?? day.start;
    const before = at(day.yesterday, shown - day.start + day.before);
    this.readout.show(clockText(day.zone, shown), row, before, day.labels.filter((label) => day.holds(label.at)).length);
    this.mark(time);
    frame.setAttribute("aria-valuemin", 0);
    frame.setAttribute("aria-valuemax", Math.round((day.end - day.start) / MINUTE));
    frame.setAttribute("aria-valuenow", Math.round((shown - day.start) / MINUTE));
    frame.setAttribute("aria-valuetext", this.readout.spoken());
  }

  mark(time) {
    const [from, to] = time === null ? [0, 1] : this.span();
    const part = time === null ? -1 : (time - from) / (to - from);
    this.rule.hidden = part < 0 || part > 1;
    this.rule.style.left = `${MARGIN.l + part * (this.frame.clientWidth - MARGIN.l - MARGIN.r)}px`;
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.watch.disconnect();
    if (window.Plotly) window.Plotly.purge(this.plot);
  }
}

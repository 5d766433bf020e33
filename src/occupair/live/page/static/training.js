// "Train from labels": start, progress, and the old and the new score side by side. The person decides.

import { roomPath } from "./api.js";
import { ask } from "./http.js";
import { el, say, toast } from "./dom.js";

const POLL = 700; // [ms]
const ABOUT = "Fits a new model to the saved counts, this room's labels. You see how good it is before anything changes.";

const isNumber = (value) => value !== null && value !== undefined;

function labelsText(score) {
  if (!score?.labels) return "no labels kept aside";
  return `on ${score.labels} ${score.labels === 1 ? "label" : "labels"} kept aside`;
}

function scoreCard(title, score, isBetter) {
  return el("div", { class: isBetter ? "score better" : "score" },
    el("h3", {}, title),
    el("p", { class: "score-value" }, isNumber(score?.rmse) ? Number(score.rmse).toFixed(2) : "–"),
    el("p", { class: "muted" }, "people off, typically (RMSE)"),
    el("p", { class: "muted" }, labelsText(score)),
    isBetter ? el("p", { class: "score-better" }, "better") : null);
}

/** The card; `swapped()` is told when another model came into use. */
export function trainingCard(id, swapped) {
  let timer = 0;
  let isClosed = false;
  const button = el("button", { class: "button primary wide", type: "button", id: "train" }, "Train from labels");
  const bar = el("progress", { max: "1", value: "0", "aria-label": "Training" });
  const word = el("p", { class: "muted", role: "status", id: "training-word" });
  const scores = el("div", { class: "scores", hidden: true });
  const choice = el("div", { class: "row", hidden: true });
  const node = el("section", { class: "card needs-admin", id: "training-card" },
    el("h2", {}, "Learn from your counts"), el("p", { class: "muted" }, ABOUT), button, bar, word, scores, choice);

  function tell(text, isBad = false) {
    word.className = isBad ? "error" : "muted";
    say(word, text);
  }

  function show(job) {
    const isRunning = job.status === "running";
    const isDone = job.status === "done" && Boolean(job.new);
    const progress = job.progress ?? 0;
    button.hidden = isRunning || isDone;
    bar.hidden = !isRunning;
    bar.value = progress;
    scores.hidden = choice.hidden = !isDone;
    const text = job.message || (job.status === "failed" ? "The training failed." : "");
    tell(isRunning ? `${text || "training"} · ${Math.round(100 * progress)} %` : text, job.status === "failed");
    if (isDone) offer(job);
  }

  function offer(job) {
    const [before, after] = [job.old?.rmse ?? Infinity, job.new.rmse ?? Infinity];
    const choose = (text, isBest, does) => el("button", {
      class: isBest ? "button primary" : "button", type: "button", onclick: does,
    }, text);
    scores.replaceChildren(
      scoreCard("In use now", job.old, before < after), scoreCard("New model", job.new, after < before));
    choice.replaceChildren(
      choose("Use the new model", after < before, () => decide("POST", "/training/accept", "The new model is in use.")),
      choose("Keep the old one", after >= before, () => decide("DELETE", "/training", "The old model stays in use.")));
  }

  async function decide(method, path, done) {
    try {
      await ask(method, roomPath(id, path));
      toast(done);
      if (method === "POST") swapped();
    } catch (failed) {
      toast(failed.message, { bad: true });
    }
    await load();
  }

  async function load() {
    clearTimeout(timer);
    if (isClosed) return;
    try {
      const job = await ask("GET", roomPath(id, "/training"));
      show(job);
      if (job.status === "running") timer = setTimeout(load, POLL);
    } catch {
      if (!bar.hidden) timer = setTimeout(load, 4 * POLL); // it goes on without us
    }
  }

  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await ask("POST", roomPath(id, "/training"));
      await load();
    } catch (failed) {
      tell(failed.message, true); // too few labels says how many are missing
    }
    button.disabled = false;
  });
  show({ status: "idle" });
  return { node, load, close: () => { isClosed = true; clearTimeout(timer); } };
}

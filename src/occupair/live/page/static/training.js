// Training on labels: start, progress, and the scores of the current and the new model. The user decides.

import { roomPath } from "./api.js";
import { el, setText, showError, toast } from "./dom.js";
import { formatPercent } from "./format.js";
import { request } from "./http.js";
import { formatNumber, language, t } from "./i18n.js";

const POLL_INTERVAL = 700; // [ms]

const isKnown = (value) => value !== null && value !== undefined;

function createScore(title, score, isBetter) {
  const rmse = isKnown(score?.rmse)
    ? formatNumber(score.rmse, { minimumFractionDigits: 2, maximumFractionDigits: 2 }) : "–";
  const labels = score?.labels ? t("training.heldOut", { count: score.labels }) : t("training.noHeldOut");
  return el("div", { class: isBetter ? "score better" : "score" },
    el("h3", {}, title),
    el("p", { class: "score-value" }, rmse),
    el("p", { class: "muted" }, t("training.rmse")),
    el("p", { class: "muted" }, labels),
    isBetter ? el("p", { class: "score-better" }, t("training.better")) : null);
}

/** Create the card; `onAccept()` is called when the new model was accepted. */
export function createTrainingCard(id, onAccept) {
  let timer = 0;
  let isClosed = false;
  const button = el("button", { class: "button primary wide", type: "button", id: "train" }, t("training.start"));
  const bar = el("progress", { max: "1", value: "0", "aria-label": t("training.progress") });
  const status = el("p", { class: "muted", role: "status", id: "training-status" });
  const scores = el("div", { class: "scores", hidden: true });
  const choice = el("div", { class: "row", hidden: true });
  const node = el("section", { class: "card needs-admin", id: "training-card" },
    el("h2", {}, t("training.title")), el("p", { class: "muted" }, t("training.text")), button, bar, status, scores,
    choice);

  function showStatus(text, isError = false) {
    status.className = isError ? "error" : "muted";
    setText(status, text);
  }

  /** Messages of the service are in English; other languages show only what the status says. */
  function statusText(job) {
    const message = language === "en" ? job.message : "";
    if (job.status === "failed") return message || t("training.failed");
    if (job.status !== "running") return message ?? "";
    return `${message || t("training.running")} · ${formatPercent(job.progress ?? 0)}`;
  }

  function show(job) {
    const isRunning = job.status === "running";
    const isDone = job.status === "done" && Boolean(job.new);
    button.hidden = isRunning || isDone;
    bar.hidden = !isRunning;
    bar.value = job.progress ?? 0;
    scores.hidden = choice.hidden = !isDone;
    showStatus(statusText(job), job.status === "failed");
    if (isDone) offerChoice(job);
  }

  function offerChoice(job) {
    const [current, trained] = [job.old?.rmse ?? Infinity, job.new.rmse ?? Infinity];
    const choiceButton = (text, isPreferred, onclick) => el("button", {
      class: isPreferred ? "button primary" : "button", type: "button", onclick,
    }, text);
    scores.replaceChildren(
      createScore(t("training.current"), job.old, current < trained),
      createScore(t("training.new"), job.new, trained < current));
    choice.replaceChildren(
      choiceButton(t("training.accept"), trained < current, () => decide("POST", "/training/accept", t("training.accepted"))),
      choiceButton(t("training.discard"), trained >= current, () => decide("DELETE", "/training", t("training.discarded"))));
  }

  async function decide(method, path, doneText) {
    try {
      await request(method, roomPath(id, path));
      toast(doneText);
      if (method === "POST") onAccept();
    } catch (error) {
      showError(error);
    }
    await load();
  }

  async function load() {
    clearTimeout(timer);
    if (isClosed) return;
    try {
      const job = await request("GET", roomPath(id, "/training"));
      show(job);
      if (job.status === "running") timer = setTimeout(load, POLL_INTERVAL);
    } catch {
      if (!bar.hidden) timer = setTimeout(load, 4 * POLL_INTERVAL); // training goes on in the service
    }
  }

  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await request("POST", roomPath(id, "/training"));
      await load();
    } catch (error) {
      showStatus(error.message, true); // with too few labels, the detail says how many are missing
    }
    button.disabled = false;
  });
  show({ status: "idle" });
  return { node, load, close: () => { isClosed = true; clearTimeout(timer); } };
}

// Training on labels: start, progress, and the scores of the current and the new model. The user decides.

import { roomPath } from "./api.js";
import { el, setText, showError, toast } from "./dom.js";
import { formatPercent } from "./format.js";
import { request } from "./http.js";
import { formatNumber, language, t } from "./i18n.js";

const POLL_INTERVAL = 700; // [ms]

const isKnown = (value) => value !== null && value !== undefined;

const formatError = (rmse) => `±${formatNumber(rmse, { minimumFractionDigits: 1, maximumFractionDigits: 1 })}`;

/** The days and head counts behind a score, by `text(values)`, or why there is no score. */
function describeEvidence(score, text) {
  if (!score) return t("training.noNewDays");
  if (!isKnown(score.rmse)) return t("training.noScore", { count: score.occupied_days ?? 0 });
  return text({
    days: t("training.days", { count: score.days ?? 0 }), counts: t("training.counts", { count: score.labels ?? 0 }),
  });
}

/** The error on the days with people, if empty days make the score look better. */
function describeOccupied(score) {
  if (!isKnown(score?.occupied_rmse) || score.occupied_days === score.days) return "";
  return t("training.occupied", { error: formatError(score.occupied_rmse), count: score.occupied_days });
}

function createScore(title, score, isBetter, ...evidence) {
  const hasScore = isKnown(score?.rmse);
  return el("div", { class: isBetter ? "score better" : "score" },
    el("h3", {}, title),
    el("p", { class: "score-value" }, hasScore ? formatError(score.rmse) : "–"),
    hasScore ? el("p", { class: "muted" }, t("training.rmse")) : null,
    ...[...evidence, describeOccupied(score)].filter(Boolean).map((text) => el("p", { class: "muted" }, text)),
    isBetter ? el("p", { class: "score-better" }, t("training.better")) : null);
}

function createCurrentScore({ old, better }) {
  const evidence = describeEvidence(old, (values) => (
    old.independent === false ? t("training.perhapsTrained", values) : t("training.newToModel", values)));
  return createScore(t("training.current"), old, better === "old", evidence);
}

function createNewScore({ new: score, new_on_same_days: same, better }) {
  const isSubset = isKnown(same?.rmse) && same.days < score.days;
  const evidence = describeEvidence(score, (values) => t("training.crossValidated", values));
  return createScore(t("training.new"), score, better === "new", evidence,
    isSubset && t("training.sameDays", { error: formatError(same.rmse) }));
}

/** Create the card; `onAccept()` is called when the new model was accepted. */
export function createTrainingCard(id, onAccept) {
  let timer = 0;
  let loads = 0;
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
    if (job.status !== "running") return job.new ? "" : message ?? ""; // the scores say it in every language
    return `${message || t("training.running")} · ${formatPercent(job.progress ?? 0)}`;
  }

  function show(job, hasModel) {
    const isRunning = job.status === "running";
    const isDone = job.status === "done" && Boolean(job.new);
    button.hidden = isRunning || isDone;
    bar.hidden = !isRunning;
    bar.value = job.progress ?? 0;
    scores.hidden = choice.hidden = !isDone;
    showStatus(statusText(job), job.status === "failed");
    if (isDone) offerChoice(job, hasModel);
  }

  /** Offer to use the new model, or else to keep the current one, if there is one. */
  function offerChoice(job, hasModel) {
    const choiceButton = (text, isPreferred, onclick) => el("button", {
      class: isPreferred ? "button primary" : "button", type: "button", onclick,
    }, text);
    const [refuse, refused] = hasModel
      ? [t("training.discard"), t("training.discarded")] : [t("training.discardNew"), t("training.discardedNew")];
    scores.replaceChildren(...(hasModel ? [createCurrentScore(job)] : []), createNewScore(job));
    choice.replaceChildren(
      choiceButton(t("training.accept"), job.better === "new", () => decide("POST", "/training/accept", t("training.accepted"))),
      choiceButton(refuse, job.better === "old", () => decide("DELETE", "/training", refused)));
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
    const started = loads += 1;
    try {
      const job = await request("GET", roomPath(id, "/training"));
      const { models } = job.new ? await request("GET", roomPath(id, "/models")) : { models: [] };
      if (started !== loads) return; // training was started meanwhile, or a later answer is on its way
      show(job, models.some((model) => model.active));
      if (job.status === "running") timer = setTimeout(load, POLL_INTERVAL);
    } catch {
      if (!bar.hidden) timer = setTimeout(load, 4 * POLL_INTERVAL); // training goes on in the service
    }
  }

  button.addEventListener("click", async () => {
    button.disabled = true;
    loads += 1;
    try {
      await request("POST", roomPath(id, "/training"));
      await load();
    } catch (error) {
      showStatus(error.message, true); // with too few labels, the detail says how many are missing
    }
    button.disabled = false;
  });
  show({ status: "idle" }, false);
  return { node, load, close: () => { isClosed = true; clearTimeout(timer); } };
}

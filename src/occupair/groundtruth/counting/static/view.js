// The view: current minute, counts, progress, the day, and what is stored.

import { computeOccupancy, createChart, dayOf, findGaps, formatSigned, timeOf } from "./day-chart.js";
import { byId, el, icon, setText } from "./dom.js";
import { isEnlarged, showEnlarged } from "./enlarged.js";
import { formatNumber, locale, t } from "./i18n.js";
import { dropPicture, getPicture, preloadPicture } from "./pictures.js";
import { currentMinute, isBusy, session } from "./session.js";

const stateName = (state) => ({
  open: t("state.open"), begun: t("state.begun"), counted: t("state.counted"), unsure: t("state.unsure"),
  skipped: t("state.skipped"),
}[state]);
const isDone = (row) => row.state !== "open" && row.state !== "begun";

const dateFormat = new Intl.DateTimeFormat(locale, { weekday: "short", day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
export const formatDate = (row) => dateFormat.format(new Date(`${dayOf(row)}T00:00:00Z`));

export function show() {
  const row = currentMinute();
  for (const id of ["minute", "controls"]) byId(id).hidden = row === null;
  byId("end").hidden = row !== null;
  byId("day").hidden = byId("more").hidden = false;
  if (row) showMinute(row);
  else showEnd();
  showEnlarged();
  showProgress();
  showDay(row);
  showStorage(row);
  preloadPicture(session.minutes[session.next]);
}

function showMinute(row) {
  setText(byId("door"), row.door);
  setText(byId("time"), timeOf(row));
  byId("time").dateTime = row.minute;
  setText(byId("date"), formatDate(row));
  byId("date").title = row.score === null ? "" : t("minute.score", { score: row.score });
  setText(byId("state"), stateName(row.state));
  byId("state").dataset.state = row.state;
  byId("marked").hidden = !row.marked;
  for (const name of ["entered", "left"]) {
    setText(byId(name), String(row[name]));
    byId(name).classList.toggle("none", row[name] === 0);
  }
  const isEmpty = row.entered === 0 && row.left === 0;
  setText(byId("counted-text"), isEmpty ? t("counted.nobody") : t("counted"));
  byId("counted-zero").hidden = !isEmpty;
  document.title = `${row.door} ${timeOf(row)} · ${t("page.title")}`;
  showSheet(row);
  byId("stamp-note").hidden = row.picture !== "there";
  const counts = row.state === "open" ? "" : t("minute.counts", { entered: row.entered, left: row.left });
  setText(byId("announcement"), [row.door, timeOf(row), stateName(row.state), counts].filter(Boolean).join(", "));
}

function showSheet(row) {
  const box = byId("sheet");
  if (row.picture !== "there") dropPicture(row);
  const wanted = `${row.minute} ${row.door} ${row.picture} ${isEnlarged()}`;
  if (box.dataset.shown === wanted) return;
  box.dataset.shown = wanted;
  if (row.picture === "there") {
    const image = getPicture(row);
    image.alt = t("picture.alt", { door: row.door, time: timeOf(row) });
    image.onerror = () => { dropPicture(row); if (box.dataset.shown === wanted) showNote(createMissingNote(row)); };
    byId("enlarge").hidden = false;
    byId("sheet-note").hidden = true;
    if (!isEnlarged()) byId("enlarge").replaceChildren(image, icon("enlarge"));
  } else showNote(row.picture === "deleted" ? createDeletedNote() : createMissingNote(row));
}

function showNote(lines) {
  byId("enlarge").hidden = true;
  byId("sheet-note").hidden = false;
  byId("sheet-note").replaceChildren(...lines);
}

const createDeletedNote = () => [el("strong", {}, t("picture.deleted")), el("span", {}, t("picture.deleted.text"))];

function createMissingNote(row) {
  const videos = row.videos.map(([name, seconds]) => t("picture.inVideo", { name, time: formatDuration(seconds) }));
  return [el("strong", {}, t("picture.missing")),
    el("span", {}, row.score === null ? t("picture.notScanned") : t("picture.noFile")),
    el("span", {}, videos.length
      ? t("picture.watchVideo", { videos: videos.join(t("picture.and")) }) : t("picture.noVideo", { door: row.door }))];
}

const twoDigits = (number) => String(number).padStart(2, "0");
const formatDuration = (seconds) => (
  `${Math.floor(seconds / 3600)}:${twoDigits(Math.floor(seconds / 60) % 60)}:${twoDigits(Math.floor(seconds % 60))}`);

function showProgress() {
  const done = session.minutes.filter(isDone).length;
  const total = session.minutes.length;
  setText(byId("done"), t("progress.done", { done, total }));
  byId("progress").max = total;
  byId("progress").value = done;
  setText(byId("time-left"), remainingTime(total - done));
  byId("undo").disabled = !session.undoable;
  if (byId("save-state").dataset.state === "lost") return;
  byId("save-state").dataset.state = isBusy() ? "saving" : "saved";
  setText(byId("save-text"), isBusy() ? t("save.saving") : t("save.saved"));
}

function remainingTime(left) {
  if (left === 0) return t("progress.finished");
  if (session.pace === null) return t("progress.minutes");
  const minutes = (left * session.pace) / 60;
  if (minutes < 1) return t("progress.underMinute");
  if (minutes < 90) return t("progress.minutesLeft", { count: Math.round(minutes) });
  return t("progress.hoursLeft", { count: Math.round(minutes / 30) / 2 });
}

function showDay(row) {
  const last = row ?? session.minutes.at(-1);
  const day = computeOccupancy(session.minutes, dayOf(last));
  const after = day.steps.find((step) => step.row.minute === last.minute).people;
  setText(byId("day-now"), t("day.after", { people: formatSigned(after), time: timeOf(last) }));
  const gaps = findGaps(session.gaps, dayOf(last));
  byId("chart").replaceChildren(createChart(day, gaps, row));
  const { negative } = day;
  byId("warning").hidden = negative === null;
  const go = byId("warning-go");
  go.hidden = negative === null || negative.row.minute === row?.minute;
  if (negative) {
    const values = { people: formatSigned(negative.people), time: timeOf(negative.row), count: negative.open };
    byId("warning").classList.toggle("soft", negative.open > 0);
    setText(byId("warning"), negative.open ? t("day.negativeSoFar", values) : t("day.negative", values));
    setText(go, t("day.goTo", { time: timeOf(negative.row) }));
    go.dataset.number = negative.row.number;
  }
  setText(byId("day-note"), [dayNote(day), ...gaps.map(gapNote)].join(" "));
}

function dayNote({ open, people, negative }) {
  if (open) return t("day.open", { count: open });
  if (people > 0) return t("day.endsOccupied", { count: people });
  return people === 0 && !negative ? t("day.endsEmpty") : t("day.counted");
}

const formatClock = (at) => `${twoDigits(Math.floor(at / 60))}:${twoDigits(at % 60)}`;
const gapNote = (gap) => t("day.gap", { door: gap.door, from: formatClock(gap.from), to: formatClock(gap.to) });

function showStorage(row) {
  const count = session.minutes.filter((one) => one.picture === "there").length;
  for (const radio of document.querySelectorAll("[name=order]")) radio.checked = radio.value === session.order;
  byId("more").dataset.count = session.doors.length;
  byId("deletes").checked = session.deletes;
  byId("delete").hidden = row === null || row.picture !== "there";
  const note = t("storage.note", { folder: session.folder, count });
  setText(byId("storage-note"), session.deletes ? `${t("storage.deletes")} ${note}` : note);
}

function showEnd() {
  const rows = session.minutes;
  const sum = (name) => rows.reduce((total, row) => total + row[name], 0);
  const countOf = (state) => rows.filter((row) => row.state === state).length;
  const uncertain = countOf("unsure") + countOf("skipped");
  setText(byId("end-title"), t("end.title", { count: rows.length }));
  const facts = [
    [t("end.entered"), sum("entered")], [t("end.left"), sum("left")], [stateName("counted"), countOf("counted")],
    [stateName("unsure"), countOf("unsure")], [stateName("skipped"), countOf("skipped")],
  ];
  byId("end-tally").replaceChildren(...facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, formatNumber(value)))));
  byId("end-review").hidden = uncertain === 0;
  setText(byId("end-uncertain"), uncertain ? t("end.uncertain", { count: uncertain }) : "");
  setText(byId("end-command"), `occupair groundtruth occupancy ${session.folder} --readings room.csv --out labelled.csv`);
  document.title = `${t("end.pageTitle")} · ${t("page.title")}`;
  setText(byId("announcement"), t("end.title", { count: rows.length }));
}

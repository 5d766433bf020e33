// What is seen: the minute, its numbers, how far the person is, the day, and what is kept.

import { book, here, isBusy } from "./book.js";
import { byId, el, say } from "./dom.js";
import { chart, dayOf, gapsOf, minus, reckon, timeOf } from "./occupancy.js";
import { expect, forget, picture } from "./pictures.js";

const STATES = { open: "not counted yet", begun: "not decided yet", counted: "counted", unsure: "unsure", skipped: "skipped" };
const isDone = (row) => row.state !== "open" && row.state !== "begun";
export const some = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

const date = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
export const dateOf = (row) => date.format(new Date(`${dayOf(row)}T00:00:00Z`));

export function show() {
  const row = here();
  for (const id of ["look", "hands"]) byId(id).hidden = row === null;
  byId("end").hidden = row !== null;
  byId("day").hidden = byId("more").hidden = false;
  if (row) showMinute(row);
  else showEnd();
  showProgress();
  showDay(row);
  showKept(row);
  expect(book.minutes[book.next]);
}

function showMinute(row) {
  say(byId("door"), row.door);
  say(byId("time"), timeOf(row));
  byId("time").dateTime = row.minute;
  say(byId("date"), dateOf(row));
  byId("date").title = row.score === null ? "" : `score of the scan: ${row.score}`;
  say(byId("state"), STATES[row.state]);
  byId("state").dataset.state = row.state;
  byId("marked").hidden = !row.marked;
  for (const name of ["entered", "left"]) {
    say(byId(name), String(row[name]));
    byId(name).classList.toggle("none", row[name] === 0);
  }
  say(byId("counted-word"), row.entered || row.left ? "Counted, next" : "Nobody, next");
  document.title = `${row.door} ${timeOf(row)} · Counting · occupair`;
  showSheet(row);
  byId("border").hidden = row.picture !== "there";
  const numbers = isDone(row) || row.state === "begun" ? ` ${row.entered} entered, ${row.left} left.` : "";
  say(byId("said"), `${row.door}, ${timeOf(row)}, ${STATES[row.state]}.${numbers}`);
}

function showSheet(row) {
  const box = byId("sheet");
  if (row.picture !== "there") forget(row);
  const wanted = `${row.minute} ${row.door} ${row.picture}`;
  if (box.dataset.shown === wanted) return;
  box.dataset.shown = wanted;
  if (row.picture === "there") {
    const img = picture(row);
    img.alt = `Pictures of ${row.door} in the minute ${timeOf(row)}, in order of time`;
    img.onerror = () => { forget(row); if (box.dataset.shown === wanted) box.replaceChildren(missing(row)); };
    box.replaceChildren(img);
  } else box.replaceChildren(row.picture === "deleted" ? deleted() : missing(row));
}

const deleted = () => el("div", { class: "no-picture" }, el("strong", {}, "The picture was deleted"),
  el("span", {}, "It was counted before, and its file is gone. The numbers are kept."));

const missing = (row) => el("div", { class: "no-picture" }, el("strong", {}, "There is no picture of this minute"),
  el("span", {}, row.score === null
    ? "The scan does not have it: it was added by hand, or counted before another scan."
    : "The scan wrote one, but its file is not in the folder."),
  el("span", {}, row.videos.length
    ? `Look at it in ${row.videos.map(([name, into]) => `${name} from ${clockOf(into)} on`).join(", and in ")}; then count it here.`
    : `No video of ${row.door} covers it. Count it if you know who passed, else skip it.`));

const two = (number) => String(number).padStart(2, "0");
const clockOf = (seconds) => `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(Math.floor(seconds % 60))}`;

function showProgress() {
  const done = book.minutes.filter(isDone).length;
  const total = book.minutes.length;
  say(byId("done"), `${done} of ${total}`);
  byId("progress").max = total;
  byId("progress").value = done;
  say(byId("time-left"), timeLeft(total - done));
  byId("undo").disabled = !book.undoable;
  if (byId("kept").dataset.state === "lost") return;
  byId("kept").dataset.state = isBusy() ? "busy" : "kept";
  say(byId("kept-word"), isBusy() ? "saving" : "saved");
}

function timeLeft(left) {
  if (left === 0) return "done";
  if (book.pace === null) return "minutes";
  const minutes = (left * book.pace) / 60;
  if (minutes < 1) return "· under 1 min left";
  return minutes < 90 ? `· about ${Math.round(minutes)} min left` : `· about ${Math.round(minutes / 30) / 2} h left`;
}

function showDay(row) {
  const last = row ?? book.minutes.at(-1);
  const day = reckon(book.minutes, dayOf(last));
  const after = day.steps.find((step) => step.row.minute === last.minute).people;
  say(byId("day-now"), `${minus(after)} after ${timeOf(last)}`);
  const gaps = gapsOf(book.gaps, dayOf(last));
  byId("chart").replaceChildren(chart(day, gaps, row));
  const bad = day.negative;
  byId("warning").hidden = bad === null;
  const go = byId("warning-go");
  go.hidden = bad === null || bad.row.minute === row?.minute;
  if (bad) {
    byId("warning").classList.toggle("soft", bad.open > 0);
    say(byId("warning"), bad.open
      ? `${minus(bad.people)} at ${timeOf(bad.row)} so far: ${some(bad.open, "minute", "minutes")} until then ${bad.open === 1 ? "is" : "are"} not counted yet.`
      : `${minus(bad.people)} at ${timeOf(bad.row)}: more people left than had entered. Somebody who entered before was missed, or a passage was counted the wrong way.`);
    say(go, `Go to ${timeOf(bad.row)}`);
    go.dataset.number = bad.row.number;
  }
  say(byId("day-note"), [dayNote(day), ...gaps.map(gapNote)].join(" "));
}

function dayNote({ open, people, negative }) {
  if (open) return `${some(open, "minute")} of this day ${open === 1 ? "is" : "are"} not counted yet.`;
  if (people > 0) return `The day is counted, and ends with ${some(people, "person", "people")} still in.`;
  return people === 0 && !negative ? "The day is counted, and ends with nobody in." : "The day is counted.";
}

const clock = (at) => `${String(Math.floor(at / 60)).padStart(2, "0")}:${String(at % 60).padStart(2, "0")}`;
const gapNote = (gap) => `No video of ${gap.door} from ${clock(gap.from)} to ${clock(gap.to)}.`;

function showKept(row) {
  const number = book.minutes.filter((one) => one.picture === "there").length;
  for (const radio of document.querySelectorAll("[name=order]")) radio.checked = radio.value === book.order;
  byId("more").dataset.count = book.doors.length;
  byId("deletes").checked = book.deletes;
  byId("delete").hidden = row === null || row.picture !== "there";
  const rule = book.deletes ? "A picture goes once the minute after it is counted, so that you can undo; those of unsure and skipped minutes stay. " : "";
  say(byId("kept-say"), `${rule}Kept in ${book.folder}: ${some(number, "picture")}, and counts.json with doors, minutes and numbers. Nothing leaves this machine, and no other can open this page. Videos are yours to delete.`);
}

function showEnd() {
  const rows = book.minutes;
  const sum = (name) => rows.reduce((total, row) => total + row[name], 0);
  const of = (state) => rows.filter((row) => row.state === state).length;
  const doubtful = of("unsure") + of("skipped");
  say(byId("end-total"), some(rows.length, "minute"));
  const facts = [["entered", sum("entered")], ["left", sum("left")], ["counted", of("counted")], ["unsure", of("unsure")], ["skipped", of("skipped")]];
  byId("end-tally").replaceChildren(...facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, String(value)))));
  byId("end-review").hidden = doubtful === 0;
  say(byId("end-doubt"), doubtful ? `${some(doubtful, "minute is", "minutes are")} doubtful: another look may settle them.` : "");
  say(byId("end-command"), `occupair groundtruth occupancy ${book.folder} --readings room.csv --out labelled.csv`);
  document.title = "All counted · occupair";
  say(byId("said"), `All ${some(rows.length, "minute")} are done.`);
}

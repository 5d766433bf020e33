// The details of a room: key figures, heat map, days, weeks, meetings and data quality.

const LISTED = 40;  // meetings before the rest is folded away
const OUTCOME_NAMES = ["used", "nobody came", "unknown"];

function detailParts(room, tip) {
  if (DATA.problem[room]) return [el("p", { class: "text" }, `No figures: ${DATA.problem[room]}`)];
  const parts = [keyFigures(room)];
  if (FINDINGS[room].length) parts.unshift(el("p", { class: "text advice" }, FINDINGS[room].join(" · ")));
  parts.push(
    figureOf("Typical week", "", ...heatMap(measuresOf(room), tip, roomName(room))),
    figureOf("Daily peaks", "Dots: the count reached for 15 min of the day in total; bars: its interval. Hatched: days left out. Shaded: weekends.", peakChart(room, tip)),
    figureOf("Hours in use per day, within the opening hours", "", hoursChart(room, tip)),
    figureOf("Weeks compared", changeText(room), weekTable(room)),
  );
  if (DATA.rooms[room].meetings) parts.push(figureOf("Meetings", meetingText(room), ...meetingParts(room)));
  parts.push(figureOf("Data", "", qualityList(room)));
  return [el("div", { class: "details" }, ...parts)];
}

const figureOf = (heading, text, ...content) => el("figure", {}, el("h4", {}, heading), ...content, ...(text ? [el("figcaption", {}, text)] : []));

function keyFigures(room) {
  const number = (name) => numberOf(name, room);
  const range = (name, format) => formatRange(number(`${name}_low`), number(`${name}_high`), format);
  const noted = (text, range_) => (range_ ? `${text} (interval ${range_})` : text);
  const facts = [
    [formatHours(number("hours")), "in use per open day", noted(`${formatPercent(number("in_use"))} of the opening hours`, range("in_use", formatPercent))],
    number("seats") !== null && [formatPercent(number("used")), "of the seats used", noted(`of ${formatCount(number("seats"))} seats`, range("used", formatPercent))],
    [formatPeople(number("people_in_use")), "people when in use", noted(`${formatPeople(number("people"))} over the opening hours`, range("people", formatPeople))],
    [formatPeople(number("peak")), "people at the highest peak", noted("for 15 min of a day", range("peak", formatPeople))],
    number("unused") !== null && [unusedText(number("unused"), room), "seats never used, at least", `${formatCount(number("unused_likely"))} by the best estimate${number("at_limit") ? "; * more people than the model knows are possible" : ""}`],
    [formatHours(number("outside")), "outside the opening hours", "in use, per good day"],
    number("meetings") !== null && [formatCount(number("empty")), "meetings without people", `of ${formatCount(number("meetings"))}; ${formatCount(number("clearly_empty"))} clearly empty`],
    number("meetings") !== null && [formatHours(number("unbooked")), "used without a booking", `${formatHours(number("freed"))} booked but freed early`],
  ].filter(Boolean);
  return el("div", { class: "facts" }, ...facts.map(([value, name, note]) => el("div", {}, el("strong", {}, value), el("span", {}, name), el("small", {}, note))));
}

function changeText(room) {
  const { change, first } = DATA.rooms[room];
  if (!change) return "A comparison needs two weeks with three good open days or more.";
  const difference = change.people - change.before, share = change.relative === null ? "" : ` (${difference < 0 ? MINUS : "+"}${formatPercent(Math.abs(change.relative))})`;
  const verdict = change.clear ? (difference > 0 ? "clearly more than before" : "clearly less than before") : "within the usual variation between days";
  return `Week of ${shortDay.format(dateAfter(first, change.week))}: ${formatOne(change.people)} people over the opening hours, ${formatOne(change.before)} in the weeks before${share}: ${verdict}.`;
}

function listTable(heads, rows) {
  const head = el("tr", {}, ...heads.map(([text, kind = ""]) => el("th", { scope: "col", class: kind }, text)));
  const body = rows.map((row) => el("tr", {}, ...row.map((cell, k) => el("td", { class: heads[k][1] ?? "" }, cell ?? DASH))));
  return el("div", { class: "wide" }, el("table", { class: "list" }, el("thead", {}, head), el("tbody", {}, ...body)));
}

function weekTable(room) {
  const { weeks, first } = DATA.rooms[room], seats = numberOf("seats", room);
  const most = Math.max(1, ...(weeks.high ?? weeks.people).map((value) => value ?? 0));
  const rows = weeks.start.map((start, k) => {
    const people = tenth(weeks.people[k]);
    return [
      shortDay.format(dateAfter(first, start)), formatCount(weeks.days[k]), weeks.left_out[k] ? formatCount(weeks.left_out[k]) : "",
      formatPeople(people), weeks.low ? formatRange(tenth(weeks.low[k]), tenth(weeks.high[k]), formatPeople) : "",
      weekBar(weeks, k, most), seats === null || people === null ? DASH : formatPercent(people / seats), formatHours(tenth(weeks.in_use[k])), formatPeople(tenth(weeks.peak[k])),
    ];
  });
  return listTable([["Week of"], ["Good days", "number"], ["Left out", "number"], ["People", "number"], ["Interval", "number"], [""], ["Seats used", "number"], ["In use per day", "number"], ["Peak", "number"]], rows);
}

function weekBar(weeks, k, most) {
  if (weeks.people[k] === null) return "";
  const scale = (value) => 128 * value / most;
  const bar = svg("svg", { viewBox: "0 0 128 12", class: "chart", "aria-hidden": "true" }, svg("rect", { class: "amount", x: 0, y: 2, width: scale(weeks.people[k]), height: 8 }));
  if (weeks.low) bar.append(svg("line", { class: "range", x1: scale(weeks.low[k]), x2: scale(weeks.high[k]), y1: 6, y2: 6, "stroke-width": 4 }));
  return bar;
}

function meetingText(room) {
  const { unbooked } = DATA.rooms[room], unknown = numberOf("unknown", room);
  return `${formatCount(numberOf("empty", room))} of ${formatCount(numberOf("meetings", room))} meetings without people${unknown ? `, ${formatCount(unknown)} unknown` : ""}; `
    + `${formatHours(numberOf("freed", room))} freed early; ${formatHours(numberOf("unbooked", room))} of use without a booking in ${formatCount(unbooked.length)} ${unbooked.length === 1 ? "visit" : "visits"}.`;
}

function meetingParts(room) {
  const { meetings, unbooked, first } = DATA.rooms[room];
  const when = (start, length) => [formatDay(first, Math.floor(start / 1440)), `${formatClock(start)}–${formatClock(start + length)}`];
  const minutes = (value) => (value === null || value < 50 ? "" : `${formatFixed(0)(value / 10)}${NBSP}min`);
  const lists = {
    "Nobody came": meetings.filter((one) => one[2] === 1), "Freed early": meetings.filter((one) => one[2] === 0 && one[6] >= 150).sort((a, b) => b[6] - a[6]), "All meetings": meetings,
  };
  const withTitles = meetings.some((one) => one[7]);
  const meetingRows = (list) => list.map(([start, length, outcome, clear, people, late, freed, title]) => [
    ...when(start, length), ...(withTitles ? [title || DASH] : []),
    el("span", { class: `badge ${["used", "empty", "unknown"][outcome]}` }, OUTCOME_NAMES[outcome] + (outcome === 1 && clear ? " (clearly)" : "")),
    outcome === 2 ? DASH : formatPeople(tenth(people)), minutes(late), minutes(freed),
  ]);
  const heads = [["Day"], ["Time"], ...(withTitles ? [["Subject", "text"]] : []), ["Outcome"], ["People", "number"], ["Started late", "number"], ["Freed early", "number"]];
  const visits = [...unbooked].sort((a, b) => b[1] - a[1]).map(([start, length, people]) => [...when(start, length), `${formatOne(length / 60)}${NBSP}h`, formatPeople(tenth(people))]);
  const body = el("div");
  const show = (name, all = false) => {
    const isVisit = name === "Without a booking", rows = isVisit ? visits : meetingRows(lists[name]);
    const shown = all ? rows : rows.slice(0, LISTED);
    const table = rows.length ? listTable(isVisit ? [["Day"], ["Time"], ["Length", "number"], ["People", "number"]] : heads, shown) : el("p", { class: "muted" }, "None.");
    const more = el("button", { type: "button", class: "link" }, `Show all ${formatCount(rows.length)}`);
    more.addEventListener("click", () => show(name, true));
    body.replaceChildren(table, ...(shown.length < rows.length ? [more] : []));
  };
  const names = [...Object.keys(lists), "Without a booking"];
  show(names[0]);
  return [el("div", { class: "controls" }, choice(names, "Meetings shown", (name) => show(name))), body];
}

function qualityList(room) {
  const { status, first, notes } = DATA.rooms[room];
  const byReason = new Map();
  status.forEach((code, day) => { if (code) byReason.set(code, [...(byReason.get(code) ?? []), day]); });
  const good = numberOf("good", room), items = [`${formatCount(good)} of ${formatCount(status.length)} days are good.`];
  for (const [code, days] of byReason) items.push(`Left out, ${DATA.statuses[code]}: ${dayRanges(days, first)}.`);
  return el("ul", { class: "quality" }, ...[...items, ...notes].map((text) => el("li", {}, text)));
}

/** Days as text, with consecutive ones as a range. */
function dayRanges(days, first) {
  const ranges = [];
  for (const day of days) {
    if (ranges.length && ranges.at(-1)[1] === day - 1) ranges.at(-1)[1] = day;
    else ranges.push([day, day]);
  }
  const name = (day) => shortDay.format(dateAfter(first, day));
  return ranges.map(([from, to]) => (from === to ? name(from) : `${name(from)} to ${name(to)}`)).join(", ");
}

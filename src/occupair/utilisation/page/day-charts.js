// Charts of the days of a room: daily peaks with intervals, and hours in use; days left out are hatched.

const CHART = { left: 34, right: 8, top: 10, bottom: 22, height: 190 };  // [px]

function dayChart(room, { label: name, value, low, high, most, format, describe, mark }, tip) {
  const { first, status } = DATA.rooms[room];
  const box = el("div", { class: "chart" });
  const draw = () => {
    const width = Math.max(240, box.clientWidth), inside = width - CHART.left - CHART.right, height = CHART.height - CHART.top - CHART.bottom;
    const step = inside / status.length;
    const tick = tickStep(most, 4), top = Math.max(tick, Math.ceil(most / tick) * tick);
    const up = (number) => CHART.top + height * (1 - Math.min(number, top) / top);
    const at = (day) => CHART.left + (day + 0.5) * step;
    const picture = svg("svg", { width, height: CHART.height, viewBox: `0 0 ${width} ${CHART.height}`, role: "img", "aria-label": name });
    const stripes = svg("pattern", { id: "bad-day", width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, svg("line", { class: "bad-line", x1: 0, x2: 0, y1: 0, y2: 5 }));
    picture.append(svg("defs", {}, stripes));
    for (let number = 0; number <= top; number += tick) {
      picture.append(svg("line", { class: "grid", x1: CHART.left, x2: width - CHART.right, y1: up(number), y2: up(number) }),
        label(String(number), { x: CHART.left - 5, y: up(number) + 4, "text-anchor": "end" }));
    }
    if (mark !== null && mark <= top) {
      picture.append(svg("line", { class: "seats", x1: CHART.left, x2: width - CHART.right, y1: up(mark), y2: up(mark) }),
        label(`${formatCount(mark)} seats`, { class: "seats", x: width - CHART.right, y: up(mark) - 4, "text-anchor": "end" }));
    }
    const every = Math.max(1, Math.ceil(64 / step / 7)) * 7;  // days between labels, at Mondays
    const monday = (8 - dateAfter(first, 0).getUTCDay()) % 7;
    const labelled = status.length < 7 ? [0] : Array.from({ length: Math.ceil(status.length / every) }, (_, k) => monday + k * every);
    for (const day of labelled.filter((day) => day < status.length)) {
      picture.append(label(shortDay.format(dateAfter(first, day)), { x: at(day), y: CHART.height - 5, "text-anchor": "middle" }));
    }
    status.forEach((code, day) => {
      const left = CHART.left + day * step, column = { x: left, width: step, y: CHART.top, height };
      if ([0, 6].includes(dateAfter(first, day).getUTCDay())) picture.append(svg("rect", { class: "closed", ...column }));
      if (code) picture.append(svg("rect", { class: "bad", ...column }));
      else picture.append(...marks(day, at(day), step, up));
      const target = svg("rect", { class: "target", ...column });
      target.addEventListener("pointermove", (event) => (code
        ? tip.show(event, formatDay(first, day), `left out: ${DATA.statuses[code]}`)
        : tip.show(event, formatDay(first, day), ...describe(day))));
      target.addEventListener("pointerleave", tip.hide);
      picture.append(target);
    });
    box.replaceChildren(picture);
  };
  const marks = (day, x, step, up) => {
    const number = value(day);
    if (number === null) return [];
    if (low === null) return [svg("rect", { class: "amount", x: x - 0.4 * step, width: Math.max(1, 0.8 * step), y: up(number), height: Math.max(0, up(0) - up(number)) })];
    const dot = svg("circle", { class: "peak", cx: x, cy: up(number), r: Math.max(1.5, Math.min(4, 0.35 * step)) });
    if (low(day) === null) return [dot];
    return [svg("line", { class: "range", x1: x, x2: x, y1: up(low(day)), y2: up(high(day)), "stroke-width": Math.max(2, Math.min(9, 0.6 * step)) }), dot];
  };
  new ResizeObserver(draw).observe(box);
  return box;
}

function peakChart(room, tip) {
  const { days } = DATA.rooms[room], seats = numberOf("seats", room);
  const at = (name) => (day) => (days[name] ? tenth(days[name][day]) : null);
  const [peak, low, high] = [at("peak"), at("peak_low"), at("peak_high")];
  const most = Math.max(1, seats ?? 0, ...(days.peak_high ?? days.peak).map((value) => (value ?? 0) / 10));
  const describe = (day) => [`peak ${formatPeople(peak(day))} people`, ...(low(day) === null ? [] : [`interval ${formatRange(low(day), high(day), formatPeople)}`])];
  return dayChart(room, { label: "Daily peaks with intervals", value: peak, low, high, most, describe, mark: seats }, tip);
}

function hoursChart(room, tip) {
  const { days } = DATA.rooms[room], hours = (day) => tenth(days.in_use[day]);
  const most = Math.max(1, ...days.open.map((value) => (value ?? 0) / 10));
  const describe = (day) => [`in use for ${formatHours(hours(day))}`, ...(days.people[day] === null ? [] : [`${formatPeople(tenth(days.people[day]))} people on average`])];
  return dayChart(room, { label: "Hours in use per day", value: hours, low: null, high: null, most, describe, mark: null }, tip);
}

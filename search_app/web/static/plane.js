// Draws each plane of a report from its table of numbers, so that its points can be read one by one.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const [LEFT, RIGHT, TOP, BOTTOM] = [44, 14, 26, 64];
const [LEAST, MOST, TALL] = [260, 345, 0.62]; // heights, and the height as a part of the width
const [REACH, NEAR] = [13, 40]; // half of what a finger meets, and how far it may miss
const COLOURS = 8; // the classes look0 to look7
const SHAPES = [ // each around 0, about 12 wide
  "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0z", "M-5.5-5.5h11v11h-11z", "M0-7l7 12h-14z", "M0-7.5l7 7.5l-7 7.5l-7-7.5z",
  "M0 7l7-12h-14z", "M-2.5-7h5v4.5h4.5v5h-4.5v4.5h-5v-4.5h-4.5v-5h4.5z",
  "M-6-4l2-2l4 4l4-4l2 2l-4 4l4 4l-2 2l-4-4l-4 4l-2-2l4-4z", "M0-7l6 3.5v7l-6 3.5l-6-3.5v-7z",
];
const IDLE = "Point at a release, or tab to one and use the arrow keys.";

function made(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// Round numbers from the least to the largest of `values`, about six of them.
function ticks(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const rough = (high - low || 0.1) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((by) => by * power).find((size) => size >= rough * 0.999);
  const first = Math.floor(low / step);
  const count = Math.ceil(high / step - 1e-9) - first;
  return Array.from({ length: Math.max(count, 1) + 1 }, (_, at) => (first + at) * step);
}

function read(row) {
  const number = (name) => (row.dataset[name] ? Number(row.dataset[name]) : null);
  return {
    series: row.cells[0].textContent.trim(),
    about: row.cells[row.cells.length - 1].textContent.trim(),
    address: row.querySelector("a")?.href ?? "",
    pale: "dominated" in row.dataset,
    x: number("x"), y: number("y"), low: number("low"), high: number("high"), look: number("look"),
  };
}

const shape = (look) => SHAPES[(look + Math.floor(look / COLOURS)) % SHAPES.length];
const colour = (look) => `look${look % COLOURS}`;

// The drawing of `points`, as wide as its place, and the marks in it.
function chart(figure, points, wide) {
  const high = Math.min(Math.max(wide * TALL, LEAST), MOST);
  const { across, up, title, ends = "" } = figure.dataset;
  const [left, right, below, above] = ends.split("|");
  const [columns, levels] = [ticks(points.map(({ x }) => x)), ticks(points.flatMap(({ y, low, high: top }) => [low ?? y, y, top ?? y]))];
  const placed = (value, steps, from, to) => from + ((value - steps[0]) / (steps.at(-1) - steps[0])) * (to - from);
  const x = (value) => placed(value, columns, LEFT, wide - RIGHT);
  const y = (value) => placed(value, levels, high - BOTTOM, TOP);
  const text = (words, kind, from, to) => made("text", { class: kind, x: from, y: to }, words);
  const shown = (value) => String(Number(value.toPrecision(6)));
  const svg = made("svg", { class: "chart", viewBox: `0 0 ${wide} ${high}`, role: "group", "aria-label": title });
  for (const at of levels) svg.append(made("path", { class: "grid", d: `M${LEFT} ${y(at)}H${wide - RIGHT}` }), text(shown(at), "level", LEFT - 8, y(at) + 4));
  for (const at of columns) svg.append(text(shown(at), "tick", x(at), high - BOTTOM + 18));
  svg.append(text(across, "axis", (LEFT + wide - RIGHT) / 2, high - 8), text(above ? `${up}  ↑ ${above}` : up, "first", 0, 12));
  if (left) svg.append(text(`← ${left}`, "first", LEFT, high - BOTTOM + 37), text(`${right} →`, "last", wide - RIGHT, high - BOTTOM + 37), text(`↓ ${below}`, "first", LEFT + 6, high - BOTTOM - 7));
  if ("path" in figure.dataset) {
    for (const name of new Set(points.map(({ series }) => series))) {
      const some = points.filter(({ series }) => series === name);
      svg.append(made("path", { class: `joined ${colour(some[0].look)}`, d: `M${some.map((one) => `${x(one.x)} ${y(one.y)}`).join("L")}` }));
    }
  }
  const marks = points.map((point) => {
    const [across_, up_] = [x(point.x), y(point.y)];
    const mark = made(point.address ? "a" : "g", { class: `mark ${colour(point.look)}${point.pale ? " beaten" : ""}`, tabindex: -1, "aria-label": point.about, role: point.address ? "link" : "img" },
      made("circle", { class: "reach", cx: across_, cy: up_, r: REACH }), made("path", { d: shape(point.look), transform: `translate(${across_} ${up_})` }));
    if (point.address) mark.setAttribute("href", point.address);
    if (point.low !== null && point.high !== null) mark.prepend(made("path", { class: "ends", d: `M${across_} ${y(point.low)}V${y(point.high)}` }));
    return Object.assign(mark, { far: (toX, toY) => Math.hypot(across_ - toX, up_ - toY) });
  });
  // Pale points lie below the others; the arrow keys go through them as the table does.
  svg.append(...marks.filter((_, at) => points[at].pale), ...marks.filter((_, at) => !points[at].pale));
  return [svg, marks];
}

function drawn(figure) {
  const points = [...figure.querySelectorAll("tr[data-x]")].map(read);
  if (!points.length) return;
  const frame = Object.assign(document.createElement("div"), { className: "live" });
  const said = Object.assign(document.createElement("p"), { className: "told live", textContent: IDLE });
  said.setAttribute("role", "status");
  let [marks, now, width] = [[], 0, 0];
  const tell = (at) => {
    now = at;
    const { about, pale, address } = points[at];
    said.textContent = about + (pale ? " Dominated." : "") + (address ? " Open it by a click." : "");
    marks.forEach((mark, one) => { mark.classList.toggle("chosen", one === at); mark.setAttribute("tabindex", one === at ? 0 : -1); });
  };
  // Points lie close, so the nearest one answers, and a finger need not meet it.
  const nearest = (svg, event, act) => {
    const box = svg.getBoundingClientRect();
    const far = marks.map((mark) => mark.far(event.clientX - box.left, event.clientY - box.top));
    const at = far.indexOf(Math.min(...far));
    if (far[at] <= NEAR) act(at);
  };
  const draw = () => {
    if (!frame.clientWidth || frame.clientWidth === width) return;
    width = frame.clientWidth;
    const focused = frame.contains(document.activeElement);
    const [svg, all] = chart(figure, points, width);
    marks = all;
    marks[now].setAttribute("tabindex", 0);
    marks.forEach((mark, at) => mark.addEventListener("focus", () => tell(at)));
    for (const kind of ["pointermove", "pointerdown"]) svg.addEventListener(kind, (event) => nearest(svg, event, tell));
    svg.addEventListener("click", (event) => {
      if (!event.detail) return; // of a key, which opens the mark itself
      event.preventDefault();
      nearest(svg, event, (at) => { if (points[at].address) location.assign(points[at].address); });
    });
    svg.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      marks[(now + by + marks.length) % marks.length].focus();
    });
    frame.replaceChildren(svg);
    if (focused) marks[now].focus();
  };
  const legend = Object.assign(document.createElement("ul"), { className: "legend live" });
  for (const [name, look] of new Map(points.map(({ series, look: its }) => [series, its]))) {
    const sign = made("svg", { class: colour(look), viewBox: "-8 -8 16 16", width: 16, height: 16, "aria-hidden": "true" }, made("path", { d: shape(look) }));
    const item = document.createElement("li");
    item.append(sign, ` ${name}`);
    legend.append(item);
  }
  figure.querySelector(".picture").before(legend, frame, said);
  figure.classList.add("scripted");
  new ResizeObserver(draw).observe(frame);
}

for (const figure of document.querySelectorAll("figure.plane")) drawn(figure);

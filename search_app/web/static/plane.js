// Draws each plane of a report from its table of numbers, so that its points can be read one by one.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const [WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM] = [840, 500, 64, 16, 16, 56];
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B8860B", "#56B4E9", "#8F6BD6", "#8B5A2B"];
const GREY = "#b4b4b4";
const SHAPES = [ // each around 0, about 12 wide
  "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0z", "M-5.5-5.5h11v11h-11z", "M0-7l7 12h-14z", "M0-7.5l7 7.5l-7 7.5l-7-7.5z",
  "M0 7l7-12h-14z", "M-2.5-7h5v4.5h4.5v5h-4.5v4.5h-5v-4.5h-4.5v-5h4.5z",
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
    grey: "dominated" in row.dataset,
    x: number("x"), y: number("y"), low: number("low"), high: number("high"),
  };
}

function drawn(figure) {
  const points = [...figure.querySelectorAll("tr[data-x]")].map(read);
  if (!points.length) return;
  const names = [...new Set(points.map(({ series }) => series))];
  const [across, up] = [ticks(points.map(({ x }) => x)), ticks(points.flatMap(({ y, low, high }) => [low ?? y, y, high ?? y]))];
  const placed = (value, ends, from, to) => from + ((value - ends[0]) / (ends.at(-1) - ends[0])) * (to - from);
  const x = (value) => placed(value, across, LEFT, WIDE - RIGHT);
  const y = (value) => placed(value, up, HIGH - BOTTOM, TOP);
  const text = (words, attributes) => made("text", attributes, words);
  const shown = (value) => String(Number(value.toPrecision(6)));
  const svg = made("svg", { class: "chart wide live", viewBox: `0 0 ${WIDE} ${HIGH}`, role: "group", "aria-label": figure.querySelector("h3").textContent });
  for (const at of up) {
    svg.append(made("path", { class: "grid", d: `M${LEFT} ${y(at)}H${WIDE - RIGHT}` }), text(shown(at), { class: "level", x: LEFT - 8, y: y(at) + 4 }));
  }
  for (const at of across) svg.append(text(shown(at), { class: "tick", x: x(at), y: HIGH - BOTTOM + 20 }));
  svg.append(text(figure.dataset.across, { class: "axis", x: (LEFT + WIDE - RIGHT) / 2, y: HIGH - 10 }));
  svg.append(text(figure.dataset.up, { class: "up", x: LEFT, y: TOP - 3 }));
  const said = Object.assign(document.createElement("p"), { className: "said live", textContent: IDLE });
  said.setAttribute("role", "status");
  const marks = points.map((point) => {
    const look = names.indexOf(point.series);
    const colour = point.grey ? GREY : COLOURS[look % COLOURS.length];
    const shape = made("path", { d: SHAPES[look % SHAPES.length], fill: colour, transform: `translate(${x(point.x)} ${y(point.y)})` });
    const mark = made(point.address ? "a" : "g", { class: "mark", tabindex: -1, "aria-label": point.about, role: point.address ? "link" : "img" }, shape);
    if (point.address) mark.setAttribute("href", point.address);
    if (point.low !== null && point.high !== null) {
      mark.prepend(made("path", { d: `M${x(point.x)} ${y(point.low)}V${y(point.high)}`, stroke: colour }));
    }
    const tell = () => { said.textContent = point.about + (point.grey ? " Dominated." : "") + (point.address ? " Open it by a click." : ""); };
    mark.addEventListener("pointerenter", tell);
    mark.addEventListener("focus", tell);
    return mark;
  });
  // Grey points lie below the others; the arrow keys go through them as the table does.
  svg.append(...marks.filter((_, at) => points[at].grey), ...marks.filter((_, at) => !points[at].grey));
  marks[0].setAttribute("tabindex", 0);
  svg.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const now = marks.indexOf(document.activeElement);
    if (!by || now < 0) return;
    event.preventDefault();
    const next = marks[(now + by + marks.length) % marks.length];
    marks[now].setAttribute("tabindex", -1);
    next.setAttribute("tabindex", 0);
    next.focus();
  });
  const legend = Object.assign(document.createElement("ul"), { className: "legend live" });
  legend.append(...names.map((name, look) => {
    const sign = made("svg", { viewBox: "-8 -8 16 16", width: 16, height: 16, "aria-hidden": "true" });
    sign.append(made("path", { d: SHAPES[look % SHAPES.length], fill: COLOURS[look % COLOURS.length] }));
    const item = document.createElement("li");
    item.append(sign, ` ${name}`);
    return item;
  }));
  figure.querySelector(".picture").before(legend, svg, said);
  figure.classList.add("scripted");
}

for (const figure of document.querySelectorAll("figure.plane")) drawn(figure);

// The dial: one answer has all stops; documents glide to their places, people and guesses follow.
"use strict";

const FAST = { duration: 280, easing: "cubic-bezier(.2, .7, .2, 1)" };
const calm = matchMedia("(prefers-reduced-motion: reduce)");

function made(name, className, ...children) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

function shownTitle(text) {
  const title = made("span", "", text);
  title.dir = "auto";
  return title;
}

// Show `list` as `items`: who stays glides to the new place, who comes fades in.
function glide(list, items, still) {
  const before = new Map([...list.children].map((item) => [item, item.getBoundingClientRect().top]));
  list.replaceChildren(...items);
  if (still || calm.matches) return;
  // All places are read before anything moves, so that the browser lays the list out once.
  const after = items.map((item) => item.getBoundingClientRect().top);
  items.forEach((item, at) => {
    for (const moving of item.getAnimations()) moving.cancel();
    const by = before.has(item) ? before.get(item) - after[at] : 0;
    if (by) item.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], FAST);
    else if (!before.has(item)) item.animate([{ opacity: 0 }, { opacity: 1 }], FAST);
  });
}

async function turn(dial) {
  const answer = await fetch(dial.dataset.dial).catch(() => null);
  if (!answer?.ok || answer.redirected) return;
  const { stops } = await answer.json();
  const part = (selector) => dial.querySelector(selector);
  const turner = part(".turner");
  const ticks = [...dial.querySelectorAll("[data-stop]")];
  // The server may have finished another release since it made the page.
  if (stops.length !== ticks.length) return location.reload();
  const documents = new Map();
  const list = part(".placed");
  const dots = part(".dots");
  const rest = part(".rest");
  const guesses = part(".guesses");
  const [like, right] = dial.querySelectorAll("progress");
  const [share, people, hits] = dial.querySelectorAll(".big strong");
  const [, person, of] = dial.querySelectorAll(".big span");
  const mostDots = 60;
  const circles = Array.from({ length: mostDots }, () => made("i"));
  dots.replaceChildren(...circles, rest);

  function item({ id, title, plain_rank: plain }) {
    if (!documents.has(id)) {
      documents.set(id, made("li", "", shownTitle(title), " ", made("small", "", `plain ${plain}`)));
    }
    return documents.get(id);
  }

  let now = -1;
  function show(at) {
    if (at === now) return;
    const first = now < 0; // the server has made this one
    now = at;
    const stop = stops[at];
    dial.className = `dial turning ${stop.mode.split(":")[0]}`;
    turner.value = at;
    turner.ariaValueText = stop.label;
    ticks.forEach((tick, place) => { tick.ariaCurrent = place === at ? "true" : null; });
    part(".says").replaceChildren(made("strong", "", `${stop.label}.`), ` ${stop.says}`);
    share.textContent = stop.share;
    like.value = parseInt(stop.share, 10) || 0;
    people.textContent = stop.people.toLocaleString("en");
    person.textContent = stop.people === 1 ? "person" : "people";
    circles.forEach((circle, place) => { circle.hidden = place >= stop.people; });
    rest.textContent = stop.people > mostDots ? `… ${people.textContent}` : "";
    part(".hidden").textContent = stop.hidden;
    hits.textContent = stop.right;
    of.textContent = stop.guesses.length ? `of ${stop.guesses.length} right` : "no guess";
    right.value = stop.right;
    guesses.replaceChildren(...stop.guesses.map((guess) => (
      made("li", guess.right ? "right" : "", shownTitle(guess.term), made("span", "unseen", guess.right ? ", right" : ", wrong"))
    )));
    glide(list, stop.results.map(item), first);
  }

  // Dragging asks for more stops than there are frames; only the last one of a frame is shown.
  let wanted = 0;
  function ask(at) {
    if (!wanted) {
      requestAnimationFrame(() => {
        show(wanted - 1);
        wanted = 0;
      });
    }
    wanted = Math.min(Math.max(at, 0), stops.length - 1) + 1;
  }

  // The address has the stop, and so has the next search, of the same person or another.
  function keep() {
    const there = new URL(location);
    const { mode } = stops[turner.valueAsNumber];
    there.searchParams.set("stop", mode);
    history.replaceState(null, "", there);
    document.querySelector("#stop")?.setAttribute("value", mode);
  }

  turner.addEventListener("input", () => ask(turner.valueAsNumber));
  turner.addEventListener("change", keep);
  for (const [at, tick] of ticks.entries()) {
    tick.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      turner.value = at;
      ask(at);
      keep();
    });
  }
  dial.style.setProperty("--stops", stops.length);
  turner.hidden = false;
  show(Number(dial.dataset.at));
}

for (const dial of document.querySelectorAll("[data-dial]")) turn(dial);

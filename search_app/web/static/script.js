// Conveniences only: every page works without this file.
"use strict";

const hits = () => [...document.querySelectorAll(".hit")];
const typing = (element) => element.matches("input, select, textarea");

// Character keys can be switched off, because speech input types characters.
const keys = document.querySelector("#keys");
const off = () => localStorage.getItem("keys") === "off";
const unwanted = ({ key }) => key.length === 1 && off();
function showKeys() {
  keys.hidden = false;
  keys.ariaPressed = String(!off());
  keys.title = `? lists them: ${off() ? "off" : "on"}`;
}
if (keys) showKeys();
keys?.addEventListener("click", () => {
  if (off()) localStorage.removeItem("keys");
  else localStorage.setItem("keys", "off");
  showKeys();
});

// "/" goes to the search field, j and k go through the results, Enter opens one, "?" lists the keys.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && typing(event.target)) event.target.blur();
  if (typing(event.target) || unwanted(event)) return;
  if (event.key === "/") {
    event.preventDefault();
    document.querySelector("#q")?.select();
    document.querySelector("#q")?.focus();
  }
  if (event.key === "?") document.querySelector("#key-list")?.showModal();
  // On a link inside the result, Enter follows that link.
  if (event.key === "Enter" && event.target.matches(".hit")) event.target.querySelector(":is(h2, h3) a")?.click();
  if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
});

function step(by) {
  const all = hits();
  const now = all.indexOf(document.activeElement.closest(".hit"));
  const next = all[Math.min(Math.max(now + by, 0), all.length - 1)];
  next?.focus({ focusVisible: true });
  next?.scrollIntoView({ block: "nearest" });
}

// In a lecture a key follows the link that lists it. A slider needs the arrows only, so that a
// presentation clicker goes on after the dial was dragged.
const taken = ({ key, target }) => (target.type === "range" ? key.startsWith("Arrow") : typing(target));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || taken(event)) return;
  if (unwanted(event)) return;
  const named = (link) => link.dataset.press.split(" ").includes(event.key);
  const link = [...document.querySelectorAll("[data-press]")].find(named);
  if (!link || event.repeat) return;
  event.preventDefault();
  link.click();
});

// Choosing a person with the mouse or a finger searches at once. With the keyboard the button does,
// because each arrow key changes the choice.
const person = document.querySelector("#user");
let pointed = false;
person?.addEventListener("pointerdown", () => { pointed = true; });
person?.addEventListener("keydown", () => { pointed = false; });
person?.addEventListener("change", () => {
  const ask = person.form.querySelector(".field button");
  if (pointed && document.querySelector("#q").value.trim()) person.form.requestSubmit(ask);
});

// Fields at their default are not sent, so that addresses stay short.
document.querySelector("#ask")?.addEventListener("formdata", (event) => {
  for (const field of event.target.querySelectorAll("[data-usual]")) {
    if (field.value === field.dataset.usual) event.formData.delete(field.name);
  }
  if (!event.formData.get("user")) event.formData.delete("user");
});

// While a query is typed, the index's own terms and titles are offered.
const field = document.querySelector("[data-suggest]");
const offers = Object.assign(document.createElement("datalist"), { id: "offers" });
field?.after(offers);
field?.setAttribute("list", offers.id);
let waiting;
field?.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(async () => {
    const typed = field.value;
    const answer = await fetch(`${field.dataset.suggest}?q=${encodeURIComponent(typed)}`).catch(() => null);
    if (!answer?.ok || answer.redirected || typed !== field.value) return;
    offers.replaceChildren(...(await answer.json()).queries.map((query) => new Option(query)));
  }, 150);
});

// The same document is marked in every column.
const columns = document.querySelector(".columns");
for (const kind of ["pointerover", "focusin"]) {
  columns?.addEventListener(kind, (event) => light(event.target.closest("[data-key]")));
}
for (const kind of ["pointerleave", "focusout"]) {
  columns?.addEventListener(kind, () => light(null));
}

function light(document_) {
  for (const other of columns.querySelectorAll("[data-key]")) {
    const same = document_ !== null && other.dataset.key === document_.dataset.key;
    other.classList.toggle("same-document", same);
  }
}

// "Why here?" opens under its result; Escape or the same link closes it.
document.addEventListener("click", async (event) => {
  const link = event.target.closest(".hit a.why");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (fold(link.closest(".hit")) || link.ariaBusy) return;
  link.ariaBusy = "true";
  const answer = await fetch(`${link.href}&fragment=1`).catch(() => null);
  link.ariaBusy = null;
  if (!answer?.ok || answer.redirected) return location.assign(link.href);
  link.ariaExpanded = "true";
  const part = Object.assign(document.createElement("div"), { className: "because", tabIndex: -1 });
  part.innerHTML = await answer.text();
  link.parentElement.after(part);
  part.focus({ preventScroll: true });
});
document.addEventListener("keydown", ({ key, target }) => {
  if (key === "Escape") fold(target.closest(".hit"))?.focus();
});

function fold(hit) {
  const link = hit?.querySelector(".because") && hit.querySelector("a.why");
  hit?.querySelector(".because")?.remove();
  if (link) link.ariaExpanded = "false";
  return link;
}

// In a study, a form says when it was sent by the clock of the device.
document.addEventListener("submit", ({ target }) => {
  const time = target.querySelector("[name=client_time]");
  if (time) time.value = Date.now();
});

// What a study's leader watches is fetched again and again: votes grow while an audience looks.
for (const part of document.querySelectorAll("[data-live]")) {
  setInterval(async () => {
    if (document.hidden) return;
    const answer = await fetch(part.dataset.live).catch(() => null);
    if (answer?.ok && !answer.redirected) part.innerHTML = await answer.text();
  }, 1500);
}

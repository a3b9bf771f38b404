// Niceties only: every page works without this file.
"use strict";

const hits = () => [...document.querySelectorAll(".hit")];
const typing = (element) => element.matches("input, select, textarea");

// "/" goes to the search field, j and k walk through the results.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && typing(event.target)) event.target.blur();
  if (typing(event.target)) return;
  if (event.key === "/") {
    event.preventDefault();
    document.querySelector("#q")?.select();
    document.querySelector("#q")?.focus();
  }
  if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
});

function step(by) {
  const all = hits();
  const now = all.indexOf(document.activeElement.closest(".hit"));
  const next = all[Math.min(Math.max(now + by, 0), all.length - 1)];
  next?.focus({ focusVisible: true });
  next?.scrollIntoView({ block: "nearest" });
}

// Choosing a person with the mouse or a finger is enough; by keyboard the button asks,
// because there each arrow key changes the choice.
const person = document.querySelector("#user");
let pointed = false;
person?.addEventListener("pointerdown", () => { pointed = true; });
person?.addEventListener("keydown", () => { pointed = false; });
person?.addEventListener("change", () => {
  const ask = person.form.querySelector(".field button");
  if (pointed && document.querySelector("#q").value.trim()) person.form.requestSubmit(ask);
});

// What is as usual need not stand in the address.
document.querySelector("#ask")?.addEventListener("formdata", (event) => {
  for (const field of event.target.querySelectorAll("[data-usual]")) {
    if (field.value === field.dataset.usual) event.formData.delete(field.name);
  }
  if (!event.formData.get("user")) event.formData.delete("user");
});

// The same document lights up in every column.
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

// In a study whose profiles stay in browsers: keeps the profile, and orders results by it.
"use strict";

// Modules come with this file's version, so that a cached older one is never mixed in.
const { search: version } = new URL(import.meta.url);
const part = (name) => import(new URL(`${name}${version}`, import.meta.url));
const parts = ["ranking.js", "evidence.js", "profile.js", "showing.js"];
const [{ closest, ordered }, { directed, scored }, { checked, counted, weighed }, { make, snippet }] = await Promise.all(parts.map(part));

const KEY = "veilsearch.study";
const DEPTH = 10; // documents of a ranking that are rated
const find = (name) => document.querySelector(`#${name}`);
const NO_STORAGE = "This browser lets pages store nothing, so your profile can’t stay in it. Allow it, or take another browser.";

/* ---- storage ---- */

function kept(whose) {
  try {
    const saved = JSON.parse(localStorage.getItem(KEY));
    return saved?.whose === whose ? checked(saved.terms) : null;
  } catch {
    return null;
  }
}

function keep(whose, terms) {
  try {
    localStorage.setItem(KEY, JSON.stringify({ whose, terms: [...terms] }));
  } catch {
    throw new Error(NO_STORAGE);
  }
}

function erase() {
  try {
    const there = localStorage.getItem(KEY) !== null;
    localStorage.removeItem(KEY);
    return there;
  } catch { // then nothing is stored
    return false;
  }
}

async function answered(address, form) {
  const how = form ? { method: "POST", body: new URLSearchParams(form) } : {};
  const answer = await fetch(address, how).catch(() => null);
  if (answer?.ok) return answer.json();
  const why = await answer?.json().catch(() => null);
  throw new Error(why?.error?.message ?? "The server did not answer. Reload this page to try again.");
}

/* ---- the profile ---- */

function showProfile(form) {
  const button = form.querySelector(".go button");
  button.disabled = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      keep(form.dataset.whose, await profileOf(form));
      form.submit(); // no field of the profile has a name, so none is sent
    } catch (fault) {
      button.disabled = false;
      tell(fault.message);
    }
  });
}

async function profileOf(form) {
  const words = await answered(form.dataset.words);
  const counts = form.querySelector("#queries") ? ofQueries(form, words) : ofInterests(form, words);
  const profile = weighed(counts, words);
  if (!profile.size) throw new Error("Nothing in this can order results. Please try other ones.");
  return profile;
}

function ofQueries(form, { vocabulary }) {
  const lines = form.querySelector("#queries").value.split("\n").filter((line) => line.trim());
  const { least } = form.dataset;
  if (lines.length < Number(least)) throw new Error(`Please write at least ${least} searches, one on each line.`);
  return counted(new Set(vocabulary), lines);
}

function ofInterests(form, { interests }) {
  const chosen = [...form.querySelectorAll("[data-interest]:checked")].map(({ dataset }) => dataset.interest);
  if (!chosen.length) throw new Error("Please pick at least one.");
  const counts = new Map();
  for (const [, counted_] of interests.filter(([label]) => chosen.includes(label))) {
    for (const [term, count] of counted_) counts.set(term, (counts.get(term) ?? 0) + count);
  }
  return counts;
}

/* ---- the results of a task ---- */

// Return the terms that order in a condition; null: nothing does.
function interestOf(condition, basis, profile) {
  if (condition === "none") return null;
  if (condition === "own") return { terms: profile, member: false };
  try {
    return { terms: new Map(Object.entries(closest(basis.rows[condition], profile).terms)), member: true };
  } catch { // no row fits
    const terms = new Map(basis.fallback[condition]);
    // The mean of all rows has nothing of its own, by which evidence could order.
    return terms.size ? { terms, member: false, common: true } : null;
  }
}

function orderOf(condition, basis, answer, profile) {
  const interest = interestOf(condition, basis, profile);
  if (!interest) return answer.documents;
  const { terms, member, common } = interest;
  const among = basis.among[condition];
  if (!answer.care) return ordered(answer, terms).found;
  const direction = directed(basis.references[among], common ? new Map() : terms);
  const evidence = scored({ ...answer, closeness: answer.close[among] }, direction, member);
  return ordered(answer, terms, evidence).found;
}

function unmasked({ pad, masked }) {
  const bytes = [...atob(pad)].map((sign) => sign.charCodeAt(0));
  return bytes.map((byte, at) => byte ^ parseInt(masked.slice(2 * at, 2 * at + 2), 16));
}

// Return the lists that are shown; `deal` says which condition fills which list, or which place.
export function listsOf(kind, orders, deal, draws) {
  if (kind === "rate") return [shuffled(pooled(deal.map((at) => orders[at])), draws)];
  if (kind !== "interleaved") return deal.map((at) => orders[at]);
  const mixed = new Map();
  for (const at of deal) {
    const best = orders[at].find(({ id }) => !mixed.has(id));
    if (best) mixed.set(best.id, best);
  }
  return [[...mixed.values()]];
}

function pooled(orders) {
  const all = orders.flatMap((order) => order.slice(0, DEPTH));
  const known = new Map(all.map((document_) => [document_.id, document_]));
  return [...known.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
}

function shuffled(documents, draws) {
  const mixed = [...documents];
  for (let at = mixed.length - 1; at > 0; at -= 1) {
    const other = Math.floor(draws[at] * (at + 1));
    [mixed[at], mixed[other]] = [mixed[other], mixed[at]];
  }
  return mixed;
}

// Return the mean of the grades in an order, weighted as on the server; empty without a grade.
export function meanGrade(order, grades) {
  let [sum, weights] = [0, 0];
  order.slice(0, DEPTH).forEach(({ id }, at) => {
    if (!grades.has(id)) return;
    sum += grades.get(id) / Math.log2(at + 2);
    weights += 1 / Math.log2(at + 2);
  });
  return weights ? (sum / weights).toFixed(2) : "";
}

/* ---- showing ---- */

const tell = (text) => { find("told").textContent = text; };

async function showTask(task) {
  const profile = kept(task.dataset.whose);
  if (!profile) {
    find("again").hidden = false;
    return tell("This browser does not have your profile: you gave it in another one, or it was erased.");
  }
  const form = find("answer");
  const where = { step: form.elements.step.value };
  const [basis, answer] = await Promise.all([answered(task.dataset.basis), answered(task.dataset.candidates, where)]);
  answer.documents = answer.documents.map((document_, at) => ({ ...document_, text: answer.texts[at] }));
  // All conditions are ordered for every task: the time shows no condition.
  const orders = basis.conditions.map((condition) => orderOf(condition, basis, answer, profile));
  const deal = unmasked(answer);
  const { kind } = task.dataset;
  const lists = listsOf(kind, orders, deal, answer.draws);
  task.querySelectorAll(".hits, .graded").forEach((list, column) => fill(list, lists[column], column, where, kind));
  if (kind === "rate") form.addEventListener("submit", () => addMeans(form, lists[0], deal.map((at) => orders[at])));
  tell("");
  task.hidden = false;
}

function fill(list, documents, column, where, kind) {
  list.querySelectorAll("li").forEach((item, at) => {
    const document_ = documents[at];
    if (!document_) return item.remove();
    const title = item.querySelector(".title");
    title.textContent = document_.title;
    item.querySelector(".where").textContent = document_.source;
    item.querySelector(".snippet").append(...snippet(document_));
    title.addEventListener("click", () => open(document_, kind === "rate" ? null : { ...where, open: `${column + 1}-${at + 1}` }));
  });
}

// The server learns the place of a click, not the document: it would tell of the order.
async function open({ title, text, url }, place) {
  if (place) {
    const body = new URLSearchParams({ ...place, client_time: Date.now() });
    const noted = await fetch(find("open").action, { method: "POST", body, redirect: "manual" }).catch(() => null);
    if (noted?.type !== "opaqueredirect") return tell("The server did not answer. Please try again.");
  }
  tell("");
  find("reader-title").textContent = title;
  const paragraphs = text.split("\n\n").filter((some) => some.trim()).map((some) => make("p", {}, some.trim()));
  find("reader-text").replaceChildren(...paragraphs);
  find("reader-link").hidden = !/^https?:\/\//i.test(url);
  if (!find("reader-link").hidden) find("reader-link").href = url;
  find("reader").showModal();
  find("reader").scrollTop = 0;
}

function addMeans(form, shown, orders) {
  form.querySelectorAll("[name^=grade-]").forEach((field) => field.remove());
  const grades = new Map();
  shown.forEach(({ id }, at) => {
    const ticked = document.querySelector(`[name=seen-${at + 1}]:checked`);
    if (ticked) grades.set(id, Number(ticked.value));
  });
  orders.forEach((order, at) => {
    form.append(make("input", { type: "hidden", name: `grade-${at + 1}`, value: meanGrade(order, grades) }));
  });
}

/* ---- the page ---- */

const profileForm = document.querySelector("form[data-words]");
if (profileForm) showProfile(profileForm);
const task = find("task");
if (task) showTask(task).catch(({ message }) => tell(message));
const over = find("over");
if (over && erase()) over.hidden = false;
find("reader-close")?.addEventListener("click", () => find("reader").close());

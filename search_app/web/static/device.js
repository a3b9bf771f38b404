// Orders what a query finds by a profile that never leaves this browser.
"use strict";

// The same version as this file's, whatever the browser has kept of others.
const { search: version } = new URL(import.meta.url);
const part = (name) => import(new URL(`${name}${version}`, import.meta.url));
const [{ closest, ordered, shared }, { checked, fromText, standing }] = await Promise.all(["ranking.js", "profile.js"].map(part));

const find = (name) => document.querySelector(`#${name}`);
const KEY = "veilsearch.device";
const SHOWN = Number(find("hits").dataset.shown); // results on a page

/* ---- what is kept ---- */

let kept = read();

function read() {
  const nothing = { terms: new Map(), row: "", keep: 200, stages: false };
  try {
    const told = JSON.parse(localStorage.getItem(KEY)) ?? {};
    return { ...nothing, ...told, terms: checked(told.terms ?? []) };
  } catch {
    return nothing;
  }
}

function stored() {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch { // the browser lets no page keep anything
    return false;
  }
}

function keepAll() {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...kept, terms: [...kept.terms] }));
    return true;
  } catch {
    return false;
  }
}

/* ---- asking ---- */

const sent = []; // what the script has asked for, to the byte, with what was true of it then
let answer = null;
let ranking = null;
let page = 1;
let turn = 0;

function question() {
  const hash = new URLSearchParams(location.hash.slice(1));
  const asked = hash.has("q") ? hash : new URLSearchParams(location.search);
  const [q, pool, operators] = ["q", "pool", "operators"].map((name) => asked.get(name) ?? "");
  return { q, pool: pool || find("pool").dataset.usual, operators };
}

// All that goes out is made of these: a query, numbers, and a row if two stages are wanted.
function request({ q, pool, operators }) {
  const asked = new URLSearchParams({ q, pool });
  if (operators) asked.set("operators", operators);
  if (kept.stages && kept.row) {
    asked.set("row", kept.row);
    asked.set("keep", kept.keep);
  }
  const url = new URL(`${find("hits").dataset.from}?${asked}`, location.href).href;
  return { method: "GET", url, headers: { Accept: "application/json" } };
}

async function search() {
  const asked = question();
  find("q").value = asked.q;
  find("pool").value = asked.pool;
  const mine = ++turn;
  const empty = !asked.q.trim();
  if (answer || empty) clear();
  find("how")?.toggleAttribute("hidden", !empty);
  if (empty) return tell("");
  const out = request(asked);
  const entry = { ...out, ...judged(out.url, asked.q), learned: learned(out.url, null) };
  sent.push(entry);
  tell("Asking …");
  const told = await answered(out);
  entry.learned = learned(out.url, told);
  showSent();
  if (mine !== turn) return;
  if (told?.documents) {
    answer = told;
    page = 1;
    return order();
  }
  clear();
  tell(`${told?.error?.message ?? "The server did not answer; please try again."} There are no results to show.`);
}

async function answered({ method, url, headers }) {
  const quiet = { credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer" };
  try {
    return await (await fetch(url, { method, headers, ...quiet })).json();
  } catch {
    return null;
  }
}

// What answered another query must not stand under this one.
function clear() {
  answer = ranking = null;
  find("hits").replaceChildren();
  find("paging").hidden = true;
}

function order() {
  if (!answer) return;
  const start = performance.now();
  ranking = ordered(answer, kept.terms);
  ranking.took = performance.now() - start;
  show();
}

/* ---- showing: text is only ever set as text ---- */

function make(name, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

const tell = (text) => { find("told").textContent = text; };
const number = (value) => value.toLocaleString("en");

function show() {
  const first = SHOWN * (page - 1);
  const { found } = ranking;
  const own = kept.terms.size > 0;
  const places = found.length ? `${first + 1}–${Math.min(first + SHOWN, found.length)} of ${number(found.length)}` : "Nothing found";
  const from = answer.row ? `, ${chosen(answer)}` : "";
  const how = own ? `ordered by your own profile on this device in ${Math.max(ranking.took, 0.1).toFixed(1)} ms` : "in the plain order, for you keep no profile here yet";
  const notices = answer.notices.map((each) => ` ${each}`).join("");
  tell(found.length ? `${places}${from}, ${how}.${notices}` : `Nothing found. Try other words, or fewer.${notices}`);
  find("hits").className = own ? "hits own" : "hits none";
  find("hits").start = first + 1;
  find("hits").replaceChildren(...found.slice(first, first + SHOWN).map((each, at) => hit(each, first + at + 1, own)));
  find("paging").hidden = found.length <= SHOWN;
  find("previous").hidden = page === 1;
  find("next").hidden = first + SHOWN >= found.length;
  find("paging").querySelector("span").textContent = `Page ${page} of ${Math.ceil(found.length / SHOWN)}`;
}

function chosen({ row, found, documents }) {
  if (documents.length === found) return `too few for row ${row.name} to choose from`;
  return `which row ${row.name} chose from ${number(found)}`;
}

function hit(each, rank, own) {
  const safe = /^https?:\/\//i.test(each.url);
  const title = safe ? make("a", { href: each.url, rel: "noreferrer noopener" }, each.title) : each.title;
  const source = make("p", { class: "source" }, make("span", { class: "rank" }, String(rank)));
  if (own) source.append(" ", moved(rank, each.plain_rank));
  source.append(" ", make("span", { class: "where", dir: "auto" }, each.source));
  const item = make("li", { class: "hit", tabindex: "-1", "data-key": each.id });
  item.append(make("h2", { dir: "auto" }, title), source, snippet(each));
  const terms = own ? shared(each, ranking.target, answer.vocabulary).join(" and ") : "";
  if (terms) item.append(make("p", { class: "reason", dir: "auto" }, `Shares ${terms} with your interests`));
  return item;
}

function snippet({ snippet: text, marks }) {
  const letters = [...text]; // places are of code points
  const shown = make("p", { class: "snippet", dir: "auto" });
  let at = 0;
  for (const { start, end } of marks) {
    shown.append(letters.slice(at, start).join(""), make("mark", {}, letters.slice(start, end).join("")));
    at = end;
  }
  shown.append(letters.slice(at).join(""));
  return shown;
}

function moved(rank, plain) {
  const steps = Math.abs(plain - rank);
  const kind = rank < plain ? "up" : rank > plain ? "down" : "same";
  const label = steps ? `moved ${kind} ${steps}, from ${plain} to ${rank}` : `same place as in the plain order, ${rank}`;
  const text = { up: `▲ ${steps}`, down: `▼ ${steps}`, same: "–" }[kind];
  return make("span", { class: `move ${kind}`, role: "img", "aria-label": label, title: label }, text);
}

function showSent() {
  const latest = sent.toReversed().map(({ method, url, headers, found, own, learned }) => {
    const lines = [`${method} ${url}`, ...Object.entries(headers).map((pair) => pair.join(": "))];
    const box = make("pre", { class: "bytes", tabindex: "0", role: "region", "aria-label": "A request", dir: "ltr" }, lines.join("\n"));
    return make("div", {}, box, make("p", { class: "soft" }, found, own, learned));
  });
  find("seen").replaceChildren(...latest);
  showAsked();
}

function showAsked() {
  const asked = ["navigation", "resource"].flatMap((kind) => performance.getEntriesByType(kind));
  find("asked").replaceChildren(...asked.map(({ name }) => make("li", {}, name)));
}

// Beside the query only numbers and the row may stand in a request; this looks again.
function judged(url, q) {
  const asked = new URL(url).searchParams;
  const digits = ["pool", "keep", "operators"].every((name) => /^\d*$/.test(asked.get(name) ?? ""));
  const known = [...asked.keys()].every((name) => ["q", "pool", "operators", "row", "keep"].includes(name));
  const wrong = !digits || !known || asked.get("q") !== q;
  if (wrong) return { found: "This is not what was to be sent. Please tell the operator. ", own: "" };
  return { found: "It had no body, and no cookie went along. ", own: ownWords(q) };
}

function ownWords(q) {
  const { size } = kept.terms;
  if (!size) return "";
  const own = standing([...kept.terms.keys()], q);
  if (size === 1) return own.length ? `Your one term is in it, as you typed it yourself: ${own[0]}. ` : "Your one term is not in it. ";
  const none = `None of your ${number(size)} terms is in it`;
  return own.length ? `${none}, but what you typed yourself: ${own.join(", ")}. ` : `${none}. `;
}

function learned(url, told) {
  const row = new URL(url).searchParams.get("row");
  if (!row) return "";
  if (!told) return `The row ${row} was sent, and no answer has come.`;
  if (!told.row) return `The server was told the row ${row}, and refused the search.`;
  if (told.row.users === 1) return `The row ${row} is of one person alone: with it the server learned that you may be that person, or much like them.`;
  return `With the row ${row} the server learned that you may be one of the ${number(told.row.users)} people it is made of, someone else it serves, or much like them.`;
}

// Of an erased profile no sentence stays, either.
function forget() {
  for (const each of sent) each.own = "";
  if (sent.length) showSent();
}

function showProfile(said = "") {
  const terms = [...kept.terms].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
  find("number").textContent = terms.length ? number(terms.length) : "";
  find("terms").replaceChildren(...terms.map(([term, weight]) => {
    const remove = make("button", { class: "quiet", type: "button", "aria-label": `Remove ${term}` }, "Remove");
    remove.addEventListener("click", () => removeTerm(term));
    return make("li", {}, make("span", { dir: "auto" }, term), make("span", { class: "weight" }, String(Number(weight.toPrecision(3)))), remove);
  }));
  find("terms").hidden = !terms.length;
  find("keeping").hidden = !stored() && !terms.length;
  find("done").hidden = !said;
  find("done").textContent = said;
  if (find("staging")) showStages();
}

function showStages(said = "") {
  find("row").value = kept.row;
  find("keep").value = kept.keep;
  find("stages").checked = kept.stages;
  const told = kept.row ? `With your next search the server is told row ${kept.row}.` : "Name the row; until then the server is told none.";
  find("staged").textContent = `${said} ${kept.stages ? told : "The server is told no row."}`.trim();
}

/* ---- what the person does ---- */

function changed(said) {
  const done = keepAll() ? said : `${said} The browser can’t keep it: it is gone when this page closes.`;
  showProfile(done);
  order();
}

function removeTerm(term) {
  const at = [...find("terms").querySelectorAll("button")].indexOf(document.activeElement);
  kept.terms.delete(term);
  changed(`“${term}” is removed.`);
  const left = find("terms").querySelectorAll("button");
  (left[Math.min(Math.max(at, 0), left.length - 1)] ?? find("more")).focus();
}

function take(text) {
  try {
    const { terms, row } = fromText(text);
    if (!terms.size) throw new Error("There is no term in this.");
    kept.terms = checked([...kept.terms, ...terms]);
    kept.row = row || kept.row;
    find("more").value = "";
    changed(`${number(terms.size)} ${terms.size === 1 ? "term is" : "terms are"} kept here.`);
  } catch (fault) {
    showProfile(fault.message);
  }
}

find("add").addEventListener("submit", (event) => {
  event.preventDefault();
  take(find("more").value);
});
find("file").addEventListener("change", async ({ target }) => {
  const [file] = target.files;
  if (file) take(await file.text());
  target.value = "";
});
find("export").addEventListener("click", () => {
  const line = `${JSON.stringify({ user: "me", terms: Object.fromEntries(kept.terms) })}\n`;
  const href = URL.createObjectURL(new Blob([line], { type: "application/json" }));
  make("a", { href, download: "veilsearch-profile.jsonl" }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
});
find("erase").addEventListener("click", () => {
  if (stored()) localStorage.removeItem(KEY);
  kept = read();
  find("add").reset();
  find("staging")?.reset();
  find("erase").closest("details").open = false;
  showProfile("Your profile is erased from this browser’s storage.");
  order();
  forget();
  find("more").focus();
});
find("staging")?.addEventListener("submit", (event) => event.preventDefault());
find("staging")?.addEventListener("change", ({ target }) => {
  const keep = Number(find("keep").value);
  const fits = Number.isInteger(keep) && keep >= 1 && keep <= Number(find("keep").max);
  const stages = find("stages").checked;
  kept = { ...kept, row: find("row").value.trim(), keep: fits ? keep : 200, stages };
  const pool = find("pool");
  if (target === find("stages")) pool.value = stages ? pool.max : pool.dataset.usual;
  keepAll();
  showStages();
  find("keeping").hidden = false;
});
find("rows")?.addEventListener("change", async ({ target }) => {
  const [file] = target.files;
  if (!file) return;
  try {
    const { row, users, cosine, rows } = closest(await file.text(), kept.terms);
    kept.row = row;
    keepAll();
    const people = users === 1 ? "one person alone" : `${number(users)} people`;
    showStages(`Of ${number(rows)} rows ${row} is closest to your profile (cosine ${cosine.toFixed(2)}); it serves ${people}. This was found out here.`);
  } catch (fault) {
    showStages(fault.message);
  }
  target.value = "";
});

find("asked").closest("details").addEventListener("toggle", showAsked);
// The address behind # is for this browser only: the page is not asked for again.
find("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const asked = new URLSearchParams(new FormData(find("ask")));
  history.pushState(null, "", `${location.pathname}#${asked}`);
  search();
});
addEventListener("popstate", search);
find("previous").addEventListener("click", () => turnTo(page - 1));
find("next").addEventListener("click", () => turnTo(page + 1));
addEventListener("storage", ({ key }) => { // another tab has added, removed or erased
  if (key !== KEY && key !== null) return;
  kept = read();
  if (!stored()) forget();
  showProfile();
  order();
});

function turnTo(chosen) {
  page = chosen;
  show();
  find("hits").querySelector(".hit")?.focus({ preventScroll: true });
  find("told").scrollIntoView({ block: "start" });
}

find("here").hidden = false;
showProfile();
search();

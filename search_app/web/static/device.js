// Orders what a query finds by a profile that never leaves this browser.
"use strict";

// Modules come with this file's version, so that a cached older one is never mixed in.
const { search: version } = new URL(import.meta.url);
const part = (name) => import(new URL(`${name}${version}`, import.meta.url));
const parts = ["ranking.js", "evidence.js", "profile.js", "showing.js"];
const [{ closest, ordered, shared }, { directed, scored }, { checked, fromText, standing }, { make, snippet }] = await Promise.all(parts.map(part));

const find = (name) => document.querySelector(`#${name}`);
const KEY = "veilsearch.device";
const SHOWN = Number(find("hits").dataset.shown); // results on a page

/* ---- storage ---- */

let kept = read();

function read() {
  const nothing = { terms: new Map(), row: "", keep: 200, stages: false };
  try {
    const saved = JSON.parse(localStorage.getItem(KEY)) ?? {};
    return { ...nothing, ...saved, terms: checked(saved.terms ?? []) };
  } catch {
    return nothing;
  }
}

function stored() {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch { // this browser lets pages store nothing
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

/* ---- requests ---- */

const sent = []; // every request to the byte, with what was true of it at the time
let answer = null;
let reference = null; // what evidence compares with; the same for every search
let ranking = null;
let page = 1;
let turn = 0; // number of the latest search: an older answer that comes late is not shown

function question() {
  const hash = new URLSearchParams(location.hash.slice(1));
  const given = hash.has("q") ? hash : new URLSearchParams(location.search);
  const [q, pool, operators, ranking] = ["q", "pool", "operators", "ranking"].map((name) => given.get(name) ?? "");
  return { q, pool: pool || find("pool").dataset.usual, operators, ranking };
}

// A request holds nothing but the query, numbers, and a row if two stages are on.
function request({ q, pool, operators, ranking }) {
  const parameters = new URLSearchParams({ q, pool });
  if (operators) parameters.set("operators", operators);
  if (ranking) parameters.set("ranking", ranking);
  if (kept.stages && kept.row) {
    parameters.set("row", kept.row);
    parameters.set("keep", kept.keep);
  }
  const url = new URL(`${find("hits").dataset.from}?${parameters}`, location.href).href;
  return { method: "GET", url, headers: { Accept: "application/json" } };
}

// Text typed before this script was ready stays in the field.
function typed() {
  return !turn && find("q").value !== find("q").defaultValue;
}

async function search() {
  const current = question();
  if (!typed()) find("q").value = current.q;
  find("pool").value = current.pool;
  const mine = ++turn;
  const empty = !current.q.trim();
  if (answer || empty) clear();
  find("how")?.toggleAttribute("hidden", !empty);
  if (empty) return tell("");
  const out = request(current);
  const entry = { ...out, ...judged(out.url, current.q), learned: learned(out.url, null) };
  sent.push(entry);
  tell("Searching …");
  const reply = await answered(out);
  entry.learned = learned(out.url, reply);
  showSent();
  if (reply?.care && !reference?.vocabulary) {
    reference = await answered(compared());
    showSent();
  }
  if (mine !== turn) return;
  if (reply?.documents && (!reply.care || reference?.vocabulary)) {
    answer = reply;
    page = 1;
    return order();
  }
  clear();
  tell(`${reply?.error?.message ?? "The server did not answer; please try again."} There are no results to show.`);
}

// It holds nothing: everybody gets the same.
function compared() {
  const url = new URL(find("hits").dataset.reference, location.href).href;
  const out = { method: "GET", url, headers: { Accept: "application/json" } };
  sent.push({ ...out, found: "It had no query, no body and no cookie. ", own: "", learned: "Everybody gets the same answer." });
  return out;
}

async function answered({ method, url, headers }) {
  const quiet = { credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer" };
  try {
    return await (await fetch(url, { method, headers, ...quiet })).json();
  } catch {
    return null;
  }
}

// Results of another query must not stay under this one.
function clear() {
  answer = ranking = null;
  find("hits").replaceChildren();
  find("paging").hidden = true;
}

function order() {
  if (!answer) return;
  const start = performance.now();
  ranking = ordered(answer, kept.terms, answer.care && scored(answer, directed(reference, kept.terms)));
  ranking.took = performance.now() - start;
  show();
}

/* ---- showing ---- */

const tell = (text) => { find("told").textContent = text; };
const number = (value) => value.toLocaleString("en");

function show() {
  const first = SHOWN * (page - 1);
  const { found } = ranking;
  const own = kept.terms.size > 0;
  const places = found.length ? `${first + 1}–${Math.min(first + SHOWN, found.length)} of ${number(found.length)}` : "Nothing found";
  const from = answer.row ? `, ${chosen(answer)}` : "";
  const fit = ranking.gate === undefined ? "" : ranking.gate ? `; your interests fit this search better than ${(100 * ranking.standing).toFixed(0)} % of ${answer.closeness.length ? "the groups" : "other searches"}` : "; your interests say nothing about this search, so the order is plain";
  const how = own ? `ordered by your own profile on this device in ${Math.max(ranking.took, 0.1).toFixed(1)} ms${fit}` : "in the plain order, because you keep no profile here yet";
  const notices = answer.notices.map((notice) => ` ${notice}`).join("");
  tell(found.length ? `${places}${from}, ${how}.${notices}` : `Nothing found. Try other words, or fewer.${notices}`);
  find("hits").className = own ? "hits own" : "hits none";
  find("hits").start = first + 1;
  find("hits").replaceChildren(...found.slice(first, first + SHOWN).map((document_, at) => hit(document_, first + at + 1, own)));
  find("paging").hidden = found.length <= SHOWN;
  find("previous").hidden = page === 1;
  find("next").hidden = first + SHOWN >= found.length;
  find("paging").querySelector("span").textContent = `Page ${page} of ${Math.ceil(found.length / SHOWN)}`;
}

function chosen({ row, found, documents }) {
  if (documents.length === found) return `too few for row ${row.name} to choose from`;
  return `chosen by row ${row.name} from ${number(found)}`;
}

function hit(document_, rank, own) {
  const safe = /^https?:\/\//i.test(document_.url);
  const title = safe ? make("a", { href: document_.url, rel: "noreferrer noopener" }, document_.title) : document_.title;
  const source = make("p", { class: "source" }, make("span", { class: "rank" }, String(rank)));
  if (own) source.append(" ", moved(rank, document_.plain_rank));
  source.append(" ", make("span", { class: "where", dir: "auto" }, document_.source));
  const item = make("li", { class: "hit", tabindex: "-1", "data-key": document_.id });
  item.append(make("h2", { dir: "auto" }, title), source, make("p", { class: "snippet", dir: "auto" }, ...snippet(document_)));
  const terms = own ? shared(document_, ranking.target, answer.vocabulary).join(" and ") : "";
  if (terms) item.append(make("p", { class: "reason", dir: "auto" }, `Shares ${terms} with your interests`));
  return item;
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
  const entries = ["navigation", "resource"].flatMap((kind) => performance.getEntriesByType(kind));
  find("asked").replaceChildren(...entries.map(({ name }) => make("li", {}, name)));
}

// A second check of what was sent: in addition to the query, numbers and the row only.
function judged(url, q) {
  const parameters = new URL(url).searchParams;
  const digits = ["pool", "keep", "operators"].every((name) => /^\d*$/.test(parameters.get(name) ?? ""));
  const known = [...parameters.keys()].every((name) => ["q", "pool", "operators", "ranking", "row", "keep"].includes(name));
  const wrong = !digits || !known || parameters.get("q") !== q;
  if (wrong) return { found: "This is not what should have been sent. Please tell the operator. ", own: "" };
  return { found: "It had no body and no cookie. ", own: ownWords(q) };
}

function ownWords(q) {
  const { size } = kept.terms;
  if (!size) return "";
  const own = standing([...kept.terms.keys()], q);
  if (size === 1) return own.length ? `Your one interest is in it, because you typed it: ${own[0]}. ` : "Your one interest is not in it. ";
  const none = `None of your ${number(size)} interests is in it`;
  return own.length ? `${none}, except those you typed: ${own.join(", ")}. ` : `${none}. `;
}

function learned(url, reply) {
  const row = new URL(url).searchParams.get("row");
  if (!row) return "";
  if (!reply) return `The row ${row} was sent, but no answer came.`;
  if (!reply.row) return `The server received the row ${row} and refused the search.`;
  if (reply.row.users === 1) return `The row ${row} belongs to one person. From it the server learned that you may be that person, or similar to them.`;
  return `From the row ${row} the server learned that you may be one of the ${number(reply.row.users)} people it is made of, someone else it serves, or similar to them.`;
}

// Sentences name terms, so they go with an erased profile.
function forget() {
  for (const entry of sent) entry.own = "";
  if (sent.length) showSent();
}

function showProfile(message = "") {
  const terms = [...kept.terms].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
  find("number").textContent = terms.length ? number(terms.length) : "";
  find("terms").replaceChildren(...terms.map(([term, weight]) => {
    const remove = make("button", { class: "quiet", type: "button", "aria-label": `Remove ${term}` }, "Remove");
    remove.addEventListener("click", () => removeTerm(term));
    return make("li", {}, make("span", { dir: "auto" }, term), make("span", { class: "weight" }, String(Number(weight.toPrecision(3)))), remove);
  }));
  find("terms").hidden = !terms.length;
  find("keeping").hidden = !stored() && !terms.length;
  find("done").hidden = !message;
  find("done").textContent = message;
  if (find("staging")) showStages();
}

function showStages(message = "") {
  find("row").value = kept.row;
  find("keep").value = kept.keep;
  find("stages").checked = kept.stages;
  const next = kept.row ? `Your next search sends row ${kept.row} to the server.` : "Name a row; until then none is sent.";
  find("staged").textContent = `${message} ${kept.stages ? next : "No row is sent to the server."}`.trim();
}

/* ---- actions ---- */

function changed(message) {
  const done = keepAll() ? message : `${message} The browser can’t store this, so it is lost when the page closes.`;
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
    if (!terms.size) throw new Error("There is no interest in this text.");
    kept.terms = checked([...kept.terms, ...terms]);
    kept.row = row || kept.row;
    find("more").value = "";
    changed(`${number(terms.size)} ${terms.size === 1 ? "interest is" : "interests are"} kept here.`);
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
    const people = users === 1 ? "one person only" : `${number(users)} people`;
    showStages(`Of ${number(rows)} rows, ${row} is closest to your profile (cosine ${cosine.toFixed(2)}). It serves ${people}. Your browser compared the rows; nothing was sent.`);
  } catch (fault) {
    showStages(fault.message);
  }
  target.value = "";
});

find("asked").closest("details").addEventListener("toggle", showAsked);
// A browser sends nothing behind #, so the query is not in a request for this page.
find("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const parameters = new URLSearchParams(new FormData(find("ask")));
  history.pushState(null, "", `${location.pathname}#${parameters}`);
  search();
});
addEventListener("popstate", search);
find("previous").addEventListener("click", () => turnTo(page - 1));
find("next").addEventListener("click", () => turnTo(page + 1));
addEventListener("storage", ({ key }) => { // another tab changed the profile
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

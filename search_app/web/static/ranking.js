// Cosines with a profile, equal to the server's to the last bit. Pure: it sends nothing.
"use strict";

const NAMED = 2; // terms of a reason

const STEP = 1e12; // 12 decimals
const WHOLE = 2 ** 52; // above it numbers are whole, so adding it rounds, halves to even
const rounded = (value) => (value * STEP + WHOLE - WHOLE) / STEP;

function prepare({ vocabulary, weights }, profile) {
  const heaviest = [...profile.values()].reduce((most, weight) => Math.max(most, weight), 0) || 1;
  const square = (weight) => (weight / heaviest) * (weight / heaviest);
  const squares = Float64Array.from(profile.values(), square).sort(); // smallest first, as on the server: the order of a sum changes its last bits
  const length = Math.sqrt(squares.reduce((sum, value) => sum + value, 0));
  const own = (term) => (profile.get(term) ?? 0) / heaviest;
  return { length, factors: Float64Array.from(weights, (weight, at) => own(vocabulary[at]) * weight) };
}

function cosine({ terms, counts, norm }, { factors, length }) {
  // Four sums side by side, as the server's compiled loop has them.
  const fours = terms.length - (terms.length % 4);
  const sums = [0, 0, 0, 0];
  for (let at = 0; at < terms.length; at += 1) {
    sums[at < fours ? at % 4 : 0] += counts[at] * factors[terms[at]];
  }
  const lengths = norm * length;
  return lengths > 0 ? rounded((sums[0] + sums[1] + (sums[2] + sums[3])) / lengths) : 0;
}

// Order the documents of an answer by a profile, or by its evidence; equal ones keep their plain order.
export function ordered(answer, profile, evidence = null) {
  const target = prepare(answer, profile);
  const by = evidence ?? { values: answer.documents.map((document_) => cosine(document_, target)) };
  const found = answer.documents.map((document_, at) => ({ ...document_, value: by.values[at] }));
  return { ...by, target, found: found.sort((one, other) => other.value - one.value) }; // sort is stable
}

// Name the terms with the largest shares of a document's cosine.
export function shared({ terms, counts }, { factors }, vocabulary) {
  const shares = terms.map((term, at) => [vocabulary[term], counts[at] * factors[term]]);
  const best = shares.filter(([, share]) => share > 0).sort((a, b) => b[1] - a[1]);
  return best.slice(0, NAMED).map(([term]) => term);
}

// Return the group's row of a published release with the largest cosine; the first of equal ones.
export function closest(text, profile) {
  let best = { cosine: 0 };
  let rows = 0;
  const length = Math.hypot(...profile.values());
  const lines = text.split("\n").filter((part) => part.trim());
  const means = meansOf(lines);
  for (const [at, line] of lines.entries()) {
    const entry = parsed(line);
    if (typeof entry?.row !== "string" || means.has(at)) continue; // the first line is about the release
    rows += 1;
    const weights = Object.entries(entry.terms ?? {});
    const product = weights.reduce((sum, [term, weight]) => sum + weight * (profile.get(term) ?? 0), 0);
    const cosine = rounded(product / (length * Math.hypot(...weights.map(([, weight]) => weight))));
    if (cosine > best.cosine) best = { row: entry.row, users: entry.users, terms: entry.terms, cosine };
  }
  if (!rows) throw new Error("This is not a published release: it has no rows.");
  if (!best.cosine) throw new Error("No row has a term of your profile.");
  return { ...best, rows };
}

// Return which lines are means of all groups: the last of a cohort with more rows than groups.
function meansOf(lines) {
  const means = new Set();
  const first = lines.length ? parsed(lines[0]) : {};
  let end = lines.length;
  for (const cohort of [first, ...(first?.cohorts ?? [])].reverse()) {
    const begin = cohort === first ? 1 : end - cohort.rows;
    if (cohort?.facts?.groups < end - begin) means.add(end - 1);
    end = begin;
  }
  return means;
}

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error("This is not a published release: a line is not JSON.");
  }
}

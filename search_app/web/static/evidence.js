// The rule `evidence`, equal to the server's to the last bit. Pure: it sends nothing.
"use strict";

const BEST = 10; // closeness: the mean of the largest products among the first documents
const SEEN = 100;
const NOTHING = 1e-12;
const STEP = 1e12; // 12 decimals
const WHOLE = 2 ** 52; // above it numbers are whole, so adding it rounds, halves to even
const rounded = (value) => Math.sign(value) * ((Math.abs(value) * STEP + WHOLE - WHOLE) / STEP);

const sum = (values) => values.reduce((total, value) => total + value, 0);
const orderedSum = (values) => sum(Float64Array.from(values).sort()); // smallest first

// The products of documents of length 1 with weights by term: in four sums side by side for a pool,
// in one sum for the sample, as the server has them.
function products(documents, vocabulary, weights, of, side) {
  const factors = vocabulary.map((term, at) => (of.get(term) ?? 0) * weights[at]);
  return documents.map(({ terms, counts, norm }) => {
    const fours = side ? terms.length - (terms.length % 4) : 0;
    const sums = [0, 0, 0, 0];
    terms.forEach((term, at) => { sums[at < fours ? at % 4 : 0] += counts[at] * factors[term]; });
    return norm > 0 ? (sums[0] + sums[1] + (sums[2] + sums[3])) / norm : 0;
  });
}

function closeness(values) {
  const best = Float64Array.from(values).sort().reverse().slice(0, BEST);
  return rounded(sum(best) / best.length);
}

// `member` says that `own` is of one of the others: an interest is not compared with itself.
function standing(own, others, member) {
  const compared = others.length - Number(member && others.includes(own));
  return compared ? others.filter((other) => other < own).length / compared : 0;
}

// Prepare a profile: its direction away from what is common, and what that gives in the sample.
export function directed(reference, profile) {
  const common = new Map(reference.common.map((term, at) => [term, reference.shares[at]]));
  const square = orderedSum(reference.shares.map((share) => share * share)) || 1;
  const shared = [...profile].map(([term, weight]) => weight * (common.get(term) ?? 0));
  const factor = reference.rows ? 1 : orderedSum(shared) / square;
  const away = [...profile].map(([term, weight]) => weight - factor * (common.get(term) ?? 0));
  const rest = [...common].map(([term, share]) => factor * (profile.has(term) ? 0 : share));
  const length = Math.sqrt(orderedSum(away.map((value) => value * value)) + sum(rest.map((value) => value * value)));
  const direction = { profile, common, factor, length, mean: 0, spread: 0, searches: [] };
  if (!profile.size || length <= NOTHING) return direction;
  const documents = reference.ends.map((end, at) => {
    const start = at ? reference.ends[at - 1] : 0;
    return { terms: reference.terms.slice(start, end), counts: reference.counts.slice(start, end), norm: reference.norms[at] };
  });
  const values = along(documents, reference.vocabulary, reference.weights, direction, false);
  const mean = sum(values) / values.length;
  const spread = Math.sqrt(sum(values.map((value) => (value - mean) * (value - mean))) / values.length);
  const searches = reference.searches.map((places) => closeness(places.map((place) => values[place])));
  return { ...direction, mean, spread: spread > NOTHING ? spread : 0, searches };
}

function along(documents, vocabulary, weights, { profile, common, factor, length }, side) {
  const own = products(documents, vocabulary, weights, profile, side);
  const shared = products(documents, vocabulary, weights, common, side);
  return own.map((value, at) => (value - factor * shared[at]) / length);
}

// Score the documents of an answer; standing and gate say how well the profile fits the search.
// `member`: the profile is one of the published rows.
export function scored({ documents, vocabulary, weights, closeness: rows, care }, direction, member = false) {
  if (!direction.spread || !documents.length) {
    return { values: documents.map(({ log }) => rounded(log)), standing: 0, gate: 0 };
  }
  const found = along(documents, vocabulary, weights, direction, true);
  const t = found.map((value) => (value - direction.mean) / direction.spread);
  const stands = standing(closeness(found.slice(0, SEEN)), rows.length ? rows : direction.searches, member && rows.length > 0);
  const gate = Math.min(Math.max((stands - care.start) / (1 - care.start), 0), 1);
  const strength = care.beta * gate;
  const values = documents.map(({ log, near, alike }, at) => {
    const weight = sum(alike);
    const held = weight > NOTHING ? sum(near.map((place, n) => alike[n] * t[place])) / weight : 0;
    return rounded(log + (strength * (t[at] + held)) / 2);
  });
  return { values, standing: stands, gate };
}

// Reads a profile that was stored, typed or pasted. Pure: it sends nothing.
"use strict";

const MOST_TERMS = 5000;
const LONGEST_TERM = 1000;
const QUOTED = 80; // characters of a refused part that the message repeats

// Return pairs of a term and its weight as a map; throw an error at a bad one.
export function checked(entries) {
  const terms = new Map();
  for (const [term, weight] of entries) {
    const named = typeof term === "string" && term.trim() && term.length <= LONGEST_TERM;
    if (!named) throw new Error(`An interest must be a text of at most ${LONGEST_TERM} characters.`);
    const heavy = typeof weight === "number" && Number.isFinite(weight) && weight > 0;
    if (!heavy) throw new Error(`The weight of “${term}” must be a number above 0.`);
    terms.set(term, weight);
  }
  if (terms.size > MOST_TERMS) throw new Error(`At most ${MOST_TERMS} interests can be kept.`);
  return terms;
}

// Read typed terms, a line of a profiles file, or the download of a person's own page.
export function fromText(text) {
  return /^\s*[[{]/.test(text) ? fromJson(text) : { terms: checked(typed(text)), row: "" };
}

function fromJson(text) {
  let content;
  try {
    content = JSON.parse(text);
  } catch {
    throw new Error("This is not one JSON object. From a file of profiles, give one person’s line.");
  }
  const terms = content.terms;
  if (typeof terms !== "object" || terms === null) throw new Error("This JSON has no terms.");
  const pairs = Array.isArray(terms)
    ? terms.map((entry) => [entry?.term, entry?.weight])
    : Object.entries(terms);
  return { terms: checked(pairs), row: typeof content.row?.row === "string" ? content.row.row : "" };
}

function typed(text) {
  return text.split(/[,;\n]/).filter((part) => part.trim()).map((part) => {
    const [term, weight, ...more] = part.split("=").map((side) => side.trim());
    if (more.length) throw new Error(`“${part.trim().slice(0, QUOTED)}” has more than one =: give an interest one weight.`);
    return [term.toLowerCase(), weight === undefined ? 1 : Number(weight)];
  });
}

// Return the terms that occur in a query, whatever their case and punctuation. A term of punctuation
// only is searched as it is.
export function standing(terms, query) {
  const words = ` ${plain(query)} `;
  const has = (term) => (plain(term) ? words.includes(` ${plain(term)} `) : query.includes(term.trim()));
  return terms.filter(has);
}

// WordNet's rules for nouns: what stands at the end of a word, and of its base form.
const ENDINGS = [["ches", "ch"], ["shes", "sh"], ["ses", "s"], ["xes", "x"], ["zes", "z"], ["ies", "y"], ["men", "man"], ["s", ""]];
const LONGEST_PHRASE = 3; // words

// Return how often each term of a set stands in lines of text, in its base form or a regular plural.
export function counted(vocabulary, lines) {
  const counts = new Map();
  for (const line of lines) {
    const words = plain(line).split(" ").map((word) => based(vocabulary, word));
    for (let size = 1; size <= LONGEST_PHRASE; size += 1) {
      for (let at = 0; at + size <= words.length; at += 1) {
        const term = words.slice(at, at + size).join(" ");
        if (vocabulary.has(term)) counts.set(term, (counts.get(term) ?? 0) + 1);
      }
    }
  }
  return counts;
}

function based(vocabulary, word) {
  const fits = ([ending]) => word.endsWith(ending);
  const forms = ENDINGS.filter(fits).map(([ending, base]) => word.slice(0, -ending.length) + base);
  return [word, ...forms].find((form) => vocabulary.has(form)) ?? word;
}

// Weigh counts as the server does: the most frequent terms, by how often they stand there or by 1.
export function weighed(counts, { sums, size }) {
  const first = [...counts].sort(([, one], [, other]) => other - one).slice(0, size ?? undefined);
  return checked(first.map(([term, count]) => [term, sums ? count : 1]));
}

const plain = (text) => text.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, " ").trim();

// How a page that orders results itself shows them: texts are set as text, never as markup.
"use strict";

export function make(name, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

// Return the parts of a snippet, with the words of the query marked.
export function snippet({ snippet: text, marks }) {
  const letters = [...text]; // marks count code points, not UTF-16 units
  const shown = [];
  let at = 0;
  for (const { start, end } of marks) {
    shown.push(letters.slice(at, start).join(""), make("mark", {}, letters.slice(start, end).join("")));
    at = end;
  }
  return [...shown, letters.slice(at).join("")];
}

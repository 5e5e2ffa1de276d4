// A text with the words that were looked for marked.

import { element } from "../dom.js";

/** The words of a search, without the signs that a search may have. */
export function searchWords(query) {
  return query.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Whether a search names only what must not be there, which finds nothing. */
export function isOnlyUnwanted(query) {
  const terms = query.replaceAll(/[\u201c-\u201f\u00ab\u00bb\uff02]/g, '"').match(/-?(?:"[^"]*"?|[^\s"]+)/g) ?? [];
  const named = terms.filter((term) => searchWords(term).length);
  return named.length > 0 && named.every((term) => term.startsWith("-"));
}

/** The text in pieces: those that begin with one of the words are marked. */
export function markedText(text, words) {
  if (!words.length) return [element("bdi", {}, text)];
  const wanted = words.map((word) => word.toLowerCase());
  const pieces = text.split(/([\p{L}\p{N}]+)/u);
  return [element("bdi", {}, pieces.map((piece) => (isWanted(piece, wanted) ? element("mark", {}, piece) : piece)))];
}

function isWanted(piece, wanted) {
  const small = piece.toLowerCase();
  return wanted.some((word) => small === word || (word.length > 3 && small.startsWith(word)));
}

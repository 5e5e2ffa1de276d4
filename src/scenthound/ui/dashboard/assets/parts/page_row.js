// A page of a crawl as a row: its title opens why it was chosen, its address opens the page itself.

import { since } from "../clock.js";
import { listedColumns } from "../columns.js";
import { element, foreign, outside, shareBar } from "../dom.js";
import { bytes, count, score } from "../format.js";
import { markedText } from "./marked_text.js";

// How the fields that the server marks as listed are formatted.
const FORMATS = { count, score, bytes };

/** The row; `further` stands at its end, `words` are marked in the excerpt. */
export function pageRow(page, { words = [], further = null } = {}) {
  const why = { class: "title", href: `#page=${page.visit}`, title: "Why was it chosen?" };
  const title = element("a", why, foreign(page.title || "(no title)"));
  const address = outside(page.url, page.url, { class: "address" });
  const excerpt = page.excerpt && element("p", { class: "excerpt" }, markedText(page.excerpt, words));
  const parts = [relevanceSign(page.relevance), title, address, excerpt, pageNumbers(page), further];
  const made = element("li", { class: "page" }, parts);
  made.dataset.visit = page.visit;
  return made;
}

/** A relevance as a figure above a bar of its length. */
function relevanceSign(relevance) {
  const name = element("span", { class: "unseen" }, "relevance ");
  const bar = shareBar(Math.max(0, Math.min(1, relevance)));
  return element("span", { class: "relevance figure", title: "Relevance" }, name, score(relevance), bar);
}

function pageNumbers(page) {
  const seed = page.is_seed && number("seed", "", "The crawl started from it");
  return element("p", { class: "numbers" }, seed, listedColumns().map((column) => columnText(column, page)));
}

function columnText({ name, title, help, listed }, page) {
  if (listed === "time") return element("span", { title: help }, since(page[name]));
  const isOfSeed = name === "score" && page.is_seed;
  return isOfSeed ? null : number(title, (FORMATS[listed] ?? String)(page[name]), help);
}

function number(name, value, title) {
  return element("span", { title }, name, value && " ", value && element("b", {}, value));
}

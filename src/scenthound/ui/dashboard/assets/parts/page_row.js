// A page as a row: its title opens the explanation, its URL the page itself; and marked search words.

import { since } from "../clock.js";
import { listedColumns } from "../columns.js";
import { element, externalLink, shareBar, untrusted } from "../dom.js";
import { bytes, count, score } from "../format.js";

// How the fields that the server marks as listed are formatted.
const FORMATS = { count, score, bytes };

/** The row; `further` is appended, `words` are marked in the excerpt. */
export function pageRow(page, { words = [], further = null } = {}) {
  const why = { class: "title", href: `#page=${page.visit}`, title: "Why was it visited?" };
  const title = element("a", why, untrusted(page.title || "(no title)"));
  const address = externalLink(page.url, page.url, { class: "address" });
  const excerpt = page.excerpt && element("p", { class: "excerpt" }, markedText(page.excerpt, words));
  const parts = [relevanceBar(page.relevance), title, address, excerpt, pageNumbers(page), further];
  const made = element("li", { class: "page" }, parts);
  made.dataset.visit = page.visit;
  return made;
}

function relevanceBar(relevance) {
  const name = element("span", { class: "unseen" }, "relevance ");
  const bar = shareBar(Math.max(0, Math.min(1, relevance)));
  return element("span", { class: "relevance figure", title: "Relevance" }, name, score(relevance), bar);
}

function pageNumbers(page) {
  const seed = page.is_seed && number("seed", "", "A seed of the crawl");
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

/** The words of a search, without its operators. */
export function searchWords(query) {
  return query.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Whether a search has excluded terms only, so that it finds nothing. */
export function hasOnlyExclusions(query) {
  const terms = query.replaceAll(/[\u201c-\u201f\u00ab\u00bb\uff02]/g, '"').match(/-?(?:"[^"]*"?|[^\s"]+)/g) ?? [];
  const named = terms.filter((term) => searchWords(term).length);
  return named.length > 0 && named.every((term) => term.startsWith("-"));
}

// Words that begin with one of the search words are marked.
function markedText(text, words) {
  const prefixes = words.map((word) => word.toLowerCase());
  const parts = text.split(/([\p{L}\p{N}]+)/u);
  return element("bdi", {}, parts.map((part) => (isMatch(part.toLowerCase(), prefixes) ? element("mark", {}, part) : part)));
}

function isMatch(part, prefixes) {
  return prefixes.some((prefix) => part === prefix || (prefix.length > 3 && part.startsWith(prefix)));
}

// A page of a crawl as a row: its title opens why it was chosen, its address opens the page itself.

import { since } from "../clock.js";
import { element, foreign, outside, shareBar } from "../dom.js";
import { count, score } from "../format.js";
import { markedText } from "./marked_text.js";

const SCORE = "What the strategy asked for it with";
const REGRET = "How much better the page was that would have been taken if no host had to rest";

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
  const told = [
    number("visit", count(page.visit), "Its place in the order of the crawl, counted from 0"),
    page.is_seed ? number("seed", "", "The crawl began with it") : number("score", score(page.score), SCORE),
    number("regret", score(page.regret), REGRET),
    element("span", {}, since(page.time_s)),
  ];
  return element("p", { class: "numbers" }, told);
}

function number(name, value, title) {
  return element("span", { title }, name, value && " ", value && element("b", {}, value));
}

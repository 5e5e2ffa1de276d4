// Why a page was visited or skipped: sentences, facts, the pages that link to it, and its text.

import { since } from "../clock.js";
import { element, facts, foreign, outside, remark, table } from "../dom.js";
import { bytes, count, counted, score } from "../format.js";
import { labelButtons } from "./labels.js";

const PARENT_COLUMNS = [
  { head: "Page", wide: true }, { head: "Relevance", number: true }, { head: "Link context", number: true },
  { head: "Anchor text", number: true },
];

/** The explanation as parts of a panel. */
export function explanation(id, answer) {
  return [
    element("p", { class: "address-line" }, outside(answer.url, answer.url, { class: "address" })),
    element("ul", { class: "sentences" }, answer.says.map((sentence) => element("li", {}, foreign(sentence)))),
    answer.nearest && nearest(answer.nearest),
    answer.page && labelButtons(id, answer.page),
    answer.page && pageFacts(answer.page),
    answer.parents.length > 0 && parents(answer),
    answer.text && textBeginning(answer.text),
  ];
}

function nearest(url) {
  const link = element("a", { href: `#url=${encodeURIComponent(url)}` }, foreign(url));
  return element("p", {}, "Nearest known URL: ", link);
}

function pageFacts(page) {
  return facts([
    ["Visit", `${count(page.visit)}, counted from 0`],
    ["When", since(page.time_s)],
    ["Relevance", score(page.relevance)],
    ["Score", page.is_seed ? "a seed" : score(page.score)],
    ["Requested", `after ${counted(page.rank, "other page")}, with ${counted(page.queue_size, "page")} queued`],
    ["Regret", score(page.regret)],
    ["Response", `status ${page.status}, ${bytes(page.content_bytes)}, ${counted(page.n_links, "link")}`],
  ]);
}

function parents(answer) {
  const rows = answer.parents.map((parent) => [
    parentCell(parent), score(parent.relevance), score(parent.context_relevance), score(parent.anchor_relevance)]);
  const rest = answer.n_parents - answer.parents.length;
  return element("section", {}, element("h3", {}, `Found on ${counted(answer.n_parents, "page")}`),
    table("Pages that link to it", PARENT_COLUMNS, rows), rest > 0 && remark(`and ${count(rest)} more`));
}

function parentCell(parent) {
  const anchor = parent.anchor && element("span", { class: "anchor" }, "“", foreign(parent.anchor), "”");
  const why = { class: "address", href: `#page=${parent.visit}`, title: "Why was it chosen?" };
  return [anchor, element("a", why, foreign(parent.url))];
}

function textBeginning(text) {
  const head = element("h3", {}, "Beginning of the text");
  return element("section", {}, head, element("blockquote", { class: "page-text" }, foreign(text, { dir: "auto" })));
}

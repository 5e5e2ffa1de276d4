// Why a page was visited or skipped: sentences, facts, the pages that link to it, and its text.

import { since } from "../clock.js";
import { element, externalLink, facts, remark, table, untrusted } from "../dom.js";
import { bytes, count, counted, score } from "../format.js";
import { labelButtons } from "./labels.js";

const PARENT_COLUMNS = [
  { head: "Page", wide: true }, { head: "Relevance", number: true }, { head: "Link context", number: true },
  { head: "Anchor text", number: true },
];

/** The content of the panel. */
export function explanation(id, response) {
  return [
    element("p", { class: "address-line" }, externalLink(response.url, response.url, { class: "address" })),
    element("ul", { class: "sentences" }, response.sentences.map((sentence) => element("li", {}, untrusted(sentence)))),
    response.nearest && nearest(response.nearest),
    response.page && labelButtons(id, response.page),
    response.page && pageFacts(response.page),
    response.parents.length > 0 && parents(response),
    response.text && textBeginning(response.text),
  ];
}

function nearest(url) {
  const link = element("a", { href: `#url=${encodeURIComponent(url)}` }, untrusted(url));
  return element("p", {}, "Nearest known URL: ", link);
}

function pageFacts(page) {
  return facts([
    ["Visit", `${count(page.visit)}, counted from 0`],
    ["When", since(page.time_s)],
    ["Relevance", score(page.relevance)],
    ["Score", page.is_seed ? "a seed" : score(page.score)],
    ["Requested", `after ${counted(page.rank, "other page")}, with ${counted(page.queue_size, "page")} queued`],
    ["Response", `status ${page.status}, ${bytes(page.content_bytes)}, ${counted(page.n_links, "link")}`],
  ]);
}

function parents(response) {
  const rows = response.parents.map((parent) => [
    parentCell(parent), score(parent.relevance), score(parent.context_relevance), score(parent.anchor_relevance)]);
  const nMore = response.n_parents - response.parents.length;
  return element("section", {}, element("h3", {}, `Found on ${counted(response.n_parents, "page")}`),
    table("Pages that link to it", PARENT_COLUMNS, rows), nMore > 0 && remark(`and ${count(nMore)} more`));
}

function parentCell(parent) {
  const anchor = parent.anchor && element("span", { class: "anchor" }, "“", untrusted(parent.anchor), "”");
  const why = { class: "address", href: `#page=${parent.visit}`, title: "Why was it visited?" };
  return [anchor, element("a", why, untrusted(parent.url))];
}

function textBeginning(text) {
  const head = element("h3", {}, "Beginning of the text");
  return element("section", {}, head, element("blockquote", { class: "page-text" }, untrusted(text, { dir: "auto" })));
}

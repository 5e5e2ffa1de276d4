// The head of a crawl's page: what it is about, how it stands, and what to do if it does not run.

import { pageAddress } from "../api.js";
import { apart, element, fill, foreign } from "../dom.js";
import { STATES, isGoing } from "../format.js";
import { commandBox } from "./notes.js";
import { stateWord } from "./state.js";

/** The head, with its links to the crawl's other pages. */
export class CrawlHead {
  #state = element("span", { class: "state-place" });
  #connection = element("span", { class: "connection", role: "status" });
  #spoken = element("span", { class: "unseen", role: "status", "aria-live": "polite" });
  #title = element("h1");
  #about = element("p", { class: "about" });
  #box = element("div", { class: "going-on" });
  #shown = null;

  constructor(id, here) {
    const line = element("div", { class: "title-line" }, this.#title, this.#state, this.#connection, this.#spoken);
    this.element = element("header", { class: "crawl-head" }, line, this.#about, crawlLinks(id, here), this.#box);
  }

  update(crawl) {
    const now = JSON.stringify([crawl.state, crawl.ended, crawl.resume_command, crawl.relevance_model]);
    if (now === this.#shown) return;
    if (this.#shown !== null) fill(this.#spoken, STATES[crawl.state].says);
    this.#shown = now;
    document.title = `${crawl.name}, ${crawl.state} · Scenthound`;
    fill(this.#title, foreign(crawl.name));
    fill(this.#state, stateWord(crawl.state));
    fill(this.#about, ...aboutCrawl(crawl));
    fill(this.#box, goingOn(crawl));
  }

  /** What is wrong with the connection; null if nothing is. */
  connection(says) {
    fill(this.#connection, says);
  }
}

function crawlLinks(id, here) {
  const links = [
    ["Overview", { href: pageAddress("crawls", id) }],
    ["Pages", { href: pageAddress("crawls", id, "pages") }],
    ["Report", apart(pageAddress("report", id))],
  ];
  const shown = links.map(([text, to]) => element("a", { ...to, "aria-current": text === here && "page" }, text));
  return element("nav", { class: "tabs", "aria-label": "Of this crawl" }, shown);
}

function aboutCrawl(crawl) {
  const names = [crawl.topic, crawl.strategy, crawl.relevance_model];
  const [topic, strategy, relevance_model] = names.map((name) => element("b", {}, foreign(name)));
  const folder = foreign(crawl.path, { class: "path" });
  return ["Topic ", topic, ", strategy ", strategy, ", relevance model ", relevance_model, ". Folder ", folder];
}

function goingOn(crawl) {
  if (isGoing(crawl.state)) return null;
  const isDead = crawl.state === "died";
  const says = element("p", {}, isDead && element("b", {}, "Died. "), foreign(crawl.ended ?? STATES[crawl.state].says));
  const further = crawl.resume_command && [element("p", {}, "To go on:"), commandBox(crawl.resume_command)];
  return element("div", { class: isDead ? "box problem died" : "box" }, says, further);
}

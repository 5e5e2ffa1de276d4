// The head of a crawl's page: topic, state, and how to resume it.

import { pagePath } from "../api.js";
import { element, fill, newTab, untrusted } from "../dom.js";
import { STATES, isAlive } from "../format.js";
import { commandBox, stateLabel } from "./notes.js";

/** The states that are problems. */
const PROBLEMS = { died: "Died. ", failed: "Failed. " };

export class CrawlHead {
  #state = element("span", { class: "state-slot" });
  #connection = element("span", { class: "connection", role: "status" });
  #announced = element("span", { class: "unseen", role: "status", "aria-live": "polite" });
  #title = element("h1");
  #about = element("p", { class: "about" });
  #box = element("div", { class: "outcome" });
  #current = null;

  constructor(id, here) {
    const line = element("div", { class: "title-line" }, this.#title, this.#state, this.#connection, this.#announced);
    this.element = element("header", { class: "crawl-head" }, line, this.#about, crawlLinks(id, here), this.#box);
  }

  update(crawl) {
    const next = JSON.stringify([crawl.state, crawl.ended, crawl.resume_command, crawl.relevance_model]);
    if (next === this.#current) return;
    if (this.#current !== null) fill(this.#announced, STATES[crawl.state].text);
    this.#current = next;
    document.title = `${crawl.name}, ${crawl.state} · Scenthound`;
    fill(this.#title, untrusted(crawl.name));
    fill(this.#state, stateLabel(crawl.state));
    fill(this.#about, ...aboutCrawl(crawl));
    fill(this.#box, outcome(crawl));
  }

  /** `message` is null if the connection works. */
  connection(message) {
    fill(this.#connection, message);
  }
}

function crawlLinks(id, here) {
  const links = [
    ["Overview", { href: pagePath("crawls", id) }],
    ["Pages", { href: pagePath("crawls", id, "pages") }],
    ["Report", newTab(pagePath("report", id))],
  ];
  const items = links.map(([text, to]) => element("a", { ...to, "aria-current": text === here && "page" }, text));
  return element("nav", { class: "tabs", "aria-label": "Pages of this crawl" }, items);
}

function aboutCrawl(crawl) {
  const names = [crawl.topic, crawl.strategy, crawl.relevance_model];
  const [topic, strategy, relevance_model] = names.map((name) => element("b", {}, untrusted(name)));
  const folder = untrusted(crawl.path, { class: "path" });
  const onTopic = crawl.on_topic && ` (on topic from a probability of ${crawl.on_topic.threshold})`;
  return ["Topic ", topic, ", strategy ", strategy, ", relevance model ", relevance_model, onTopic, ". Folder ", folder];
}

function outcome(crawl) {
  if (isAlive(crawl.state)) return null;
  const problem = PROBLEMS[crawl.state];
  const text = element("p", {}, problem && element("b", {}, problem), untrusted(crawl.ended ?? STATES[crawl.state].text));
  const resume = crawl.resume_command && [element("p", {}, "To resume it:"), commandBox(crawl.resume_command)];
  return element("div", { class: problem ? `box problem ${crawl.state}` : "box" }, text, resume);
}

// The buttons that steer a running crawl; each says why it cannot be used when it cannot.

import { change, ofCrawl, whyReadOnly } from "../api.js";
import { button, element, fill, foreign, sendButton } from "../dom.js";
import { count, counted } from "../format.js";
import { confirmed } from "./confirming.js";
import { messagePlace, told } from "./notes.js";

const STOP = "Stop this crawl? It finishes what is under way and saves. It can be resumed later.";
const LOST = "Not while the connection is lost.";
const WHOLE_NUMBER = { type: "number", min: "1", step: "1", required: true, inputmode: "numeric" };

export class Steering {
  #id;
  #message = messagePlace();
  #reason = element("p", { class: "why-not", id: "steering-reason" });
  #problem = element("p", { class: "why-not", role: "status" });
  #pause = button("Pause", () => this.#toggle(), { "aria-describedby": "steering-reason" });
  #stop = button("Stop", () => this.#end(), { "aria-describedby": "steering-reason" });
  #pages = element("input", { id: "page-budget", ...WHOLE_NUMBER });
  #set = sendButton("Set");
  #crawl = null;
  #isLost = false;
  #budget = null;

  constructor(id) {
    this.#id = id;
    const label = element("label", { for: "page-budget" }, "Page budget");
    const listens = { class: "budget", submit: (event) => this.#changeBudget(event) };
    const form = element("form", listens, label, this.#pages, this.#set);
    const row = element("div", { class: "steering-row" }, this.#pause, this.#stop, form);
    const named = { class: "steering", "aria-label": "Steer the crawl" };
    this.element = element("section", named, row, this.#reason, this.#problem, this.#message);
    document.addEventListener("read-only", () => this.#allow());
  }

  update(crawl) {
    this.#crawl = crawl;
    fill(this.#pause, crawl.state === "paused" ? "Resume" : "Pause");
    fill(this.#problem, this.#hears() && crawl.status?.problem && foreign(`Not done: ${crawl.status.problem}`));
    this.#showBudget(crawl.status?.page_budget ?? null);
    this.#allow();
  }

  /** What is wrong with the connection; null if nothing is. */
  connection(says) {
    this.#isLost = says !== null;
    this.#allow();
  }

  #hears() {
    return this.#crawl.state === "running" || this.#crawl.state === "paused";
  }

  #allow() {
    const whyNot = whyReadOnly() ?? (this.#isLost ? LOST : null);
    this.#pause.disabled = this.#stop.disabled = whyNot !== null || !this.#hears();
    this.#pages.disabled = this.#set.disabled = whyNot !== null;
    fill(this.#reason, whyNot ?? reasonFor(this.#crawl.state, this.#hears()));
  }

  // A number that is being typed is left alone.
  #showBudget(budget) {
    if (budget === this.#budget || document.activeElement === this.#pages) return;
    this.#budget = budget;
    this.#pages.value = budget ?? "";
  }

  async #toggle() {
    await told(this.#message, () => change(ofCrawl(this.#id, this.#crawl.state === "paused" ? "resume" : "pause")));
  }

  async #end() {
    if (await confirmed(STOP, "Stop the crawl", "Keep crawling")) {
      await told(this.#message, () => change(ofCrawl(this.#id, "stop")));
    }
  }

  async #changeBudget(event) {
    event.preventDefault();
    const pages = Number(this.#pages.value);
    if (!(await this.#mayEnd(pages))) {
      this.#pages.value = this.#budget ?? "";
      return;
    }
    const done = await told(this.#message, () => change(ofCrawl(this.#id, "budget"), { pages }));
    if (!done) this.#pages.title = `It is ${count(this.#budget)} now.`;
  }

  // A budget that is reached already ends the crawl.
  #mayEnd(pages) {
    const taken = this.#crawl.status?.n_pages ?? 0;
    if (!this.#hears() || pages > taken) return true;
    const question = `The crawl has ${counted(taken, "page")} already: it would end now. It can be resumed later.`;
    return confirmed(question, "End the crawl", "Keep crawling");
  }
}

function reasonFor(state, running) {
  if (state === "ending") return "The crawl is about to end. A page budget that you set is for its next run.";
  return running ? "" : "The crawl is not running. A page budget that you set is for its next run.";
}

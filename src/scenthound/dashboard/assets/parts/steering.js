// The buttons that steer a running crawl; each says why it cannot be used when it cannot.

import { change, mayChange, ofCrawl } from "../api.js";
import { button, element, fill, foreign, sendButton } from "../dom.js";
import { count } from "../format.js";
import { confirmed } from "./confirming.js";
import { messagePlace, told } from "./notes.js";

const STOP = "Stop this crawl? It finishes what is under way and saves. It can be resumed later.";
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
  #state = null;
  #budget = null;

  constructor(id) {
    this.#id = id;
    const label = element("label", { for: "page-budget" }, "Page budget");
    const listens = { class: "budget", submit: (event) => this.#changeBudget(event) };
    const form = element("form", listens, label, this.#pages, this.#set);
    const row = element("div", { class: "steering-row" }, this.#pause, this.#stop, form);
    const named = { class: "steering", "aria-label": "Steer the crawl" };
    this.element = element("section", named, row, this.#reason, this.#problem, this.#message);
  }

  update(crawl) {
    this.#state = crawl.state;
    const running = crawl.state === "running" || crawl.state === "paused";
    fill(this.#pause, crawl.state === "paused" ? "Go on" : "Pause");
    this.#pause.disabled = this.#stop.disabled = !running || !mayChange();
    this.#pages.disabled = this.#set.disabled = !mayChange();
    fill(this.#reason, reasonFor(crawl.state, running));
    fill(this.#problem, running && crawl.status?.problem && foreign(`Not done: ${crawl.status.problem}`));
    this.#showBudget(crawl.status?.page_budget ?? null);
  }

  // A number that is being typed is left alone.
  #showBudget(budget) {
    if (budget === this.#budget || document.activeElement === this.#pages) return;
    this.#budget = budget;
    this.#pages.value = budget ?? "";
  }

  async #toggle() {
    await told(this.#message, () => change(ofCrawl(this.#id, this.#state === "paused" ? "go-on" : "pause")));
  }

  async #end() {
    if (await confirmed(STOP, "Stop the crawl", "Keep crawling")) {
      await told(this.#message, () => change(ofCrawl(this.#id, "stop")));
    }
  }

  async #changeBudget(event) {
    event.preventDefault();
    const pages = Number(this.#pages.value);
    const done = await told(this.#message, () => change(ofCrawl(this.#id, "budget"), { pages }));
    if (!done) this.#pages.title = `It is ${count(this.#budget)} now.`;
  }
}

function reasonFor(state, running) {
  if (!mayChange()) return "Read-only: this page was opened without its token.";
  if (state === "ending") return "The crawl is about to end. A page budget that you set is for its next run.";
  return running ? "" : "The crawl is not running. A page budget that you set is for its next run.";
}

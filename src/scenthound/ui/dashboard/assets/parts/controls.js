// The controls of a running crawl; a note says why they are disabled.

import { change, crawlPath, whyReadOnly } from "../api.js";
import { button, element, fill, submitButton, untrusted } from "../dom.js";
import { count, counted } from "../format.js";
import { confirmed, messageLine, reportResult } from "./notes.js";

const STOP = "Stop this crawl? It finishes the requests in flight and saves its state. It can be resumed later.";
const READ_ONLY = "Read-only: see the note at the top.";
const LOST = "Disabled while the connection is lost.";
const INTEGER = { type: "number", min: "1", step: "1", required: true, inputmode: "numeric" };

export class Controls {
  #id;
  #message = messageLine();
  #reason = element("p", { class: "why-not", id: "controls-reason" });
  #problem = element("p", { class: "why-not", role: "status" });
  #pause = button("Pause", () => this.#toggle(), { "aria-describedby": "controls-reason" });
  #stop = button("Stop", () => this.#end(), { "aria-describedby": "controls-reason" });
  #pages = element("input", { id: "page-budget", ...INTEGER });
  #set = submitButton("Set");
  #crawl = null;
  #isLost = false;
  #budget = null;

  constructor(id) {
    this.#id = id;
    const label = element("label", { for: "page-budget" }, "Page budget");
    const listens = { class: "budget", submit: (event) => this.#changeBudget(event) };
    const form = element("form", listens, label, this.#pages, this.#set);
    const row = element("div", { class: "controls-row" }, this.#pause, this.#stop, form);
    const attributes = { class: "controls", "aria-label": "Control the crawl" };
    this.element = element("section", attributes, row, this.#reason, this.#problem, this.#message);
    document.addEventListener("read-only", () => this.#allow());
  }

  update(crawl) {
    this.#crawl = crawl;
    fill(this.#pause, crawl.state === "paused" ? "Resume" : "Pause");
    fill(this.#problem, this.#isControllable() && crawl.status?.problem && untrusted(`Not done: ${crawl.status.problem}`));
    this.#showBudget(crawl.status?.page_budget ?? null);
    this.#allow();
  }

  /** `message` is null if the connection works. */
  connection(message) {
    this.#isLost = message !== null;
    this.#allow();
  }

  #isControllable() {
    return this.#crawl.state === "running" || this.#crawl.state === "paused";
  }

  #allow() {
    const reason = whyReadOnly() !== null ? READ_ONLY : this.#isLost ? LOST : null;
    this.#pause.disabled = this.#stop.disabled = reason !== null || !this.#isControllable();
    this.#pages.disabled = this.#set.disabled = reason !== null;
    fill(this.#reason, reason ?? reasonFor(this.#crawl.state, this.#isControllable()));
  }

  // A number that is being typed is not replaced.
  #showBudget(budget) {
    if (budget === this.#budget || document.activeElement === this.#pages) return;
    this.#budget = budget;
    this.#pages.value = budget ?? "";
  }

  async #toggle() {
    await reportResult(this.#message, () => change(crawlPath(this.#id, this.#crawl.state === "paused" ? "resume" : "pause")));
  }

  async #end() {
    if (await confirmed(STOP, "Stop the crawl", "Keep crawling")) {
      await reportResult(this.#message, () => change(crawlPath(this.#id, "stop")));
    }
  }

  async #changeBudget(event) {
    event.preventDefault();
    const pages = Number(this.#pages.value);
    if (!(await this.#confirmBudget(pages))) {
      this.#pages.value = this.#budget ?? "";
      return;
    }
    const done = await reportResult(this.#message, () => change(crawlPath(this.#id, "budget"), { pages }));
    if (!done) this.#pages.title = `It is ${count(this.#budget)} now.`;
  }

  // A budget that is already reached ends the crawl.
  #confirmBudget(pages) {
    const visited = this.#crawl.status?.n_pages ?? 0;
    if (!this.#isControllable() || pages > visited) return true;
    const question = `The crawl has visited ${counted(visited, "page")} already: it would end now. It can be resumed later.`;
    return confirmed(question, "End the crawl", "Keep crawling");
  }
}

function reasonFor(state, running) {
  if (state === "ending") return "The crawl is about to end. A new page budget applies to its next run.";
  return running ? "" : "The crawl is not running. A new page budget applies to its next run.";
}

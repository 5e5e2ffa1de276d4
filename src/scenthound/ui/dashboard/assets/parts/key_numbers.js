// The key numbers of a crawl, at the top of its page.

import { statusColumn } from "../columns.js";
import { lastPoint } from "../curves.js";
import { element, shareBar } from "../dom.js";
import { count, duration, percent, percentRange, rate, score } from "../format.js";

// Fields of the status and their formats.
const FIELDS = {
  n_pages: count,
  n_on_topic: count,
  recall: percent,
  harvest: score,
  recent_harvest: score,
  pages_per_s: (value, isRunning) => rate(isRunning ? value : null),
  seconds_left: (value, isRunning) => (isRunning ? duration(value) : "–"),
  frontier: count,
  n_skipped: count,
  n_rendered: count,
  n_renders_failed: count,
  regret: percent,
};

// Shown only if there are any.
const OPTIONAL = new Set(["n_rendered", "n_renders_failed"]);

export class KeyNumbers {
  #values = {};
  #budget = element("span", { class: "of-budget" });
  #bar = shareBar(0);
  #interval = element("span", { class: "interval" });

  constructor() {
    const cells = Object.keys(FIELDS).map((name) => this.#cell(statusColumn(name)));
    this.element = element("dl", { class: "key-numbers" }, cells);
  }

  #cell({ name, title, help }) {
    this.#values[name] = element("span", { class: "figure", id: `number-${name}` }, "–");
    const further = { n_pages: [this.#budget, this.#bar], recall: [" ", this.#interval] }[name];
    return element("div", { title: help }, element("dt", {}, title), element("dd", {}, this.#values[name], further));
  }

  /** Without a status the last point of the curves replaces it. */
  update(crawl, curves) {
    const status = crawl.status ?? lastPoint(curves);
    const isRunning = crawl.state === "running" || crawl.state === "ending";
    for (const [name, format] of Object.entries(FIELDS)) {
      this.#set(name, format(status[name], isRunning));
      if (OPTIONAL.has(name)) this.#values[name].closest("div").hidden = !status[name];
    }
    this.#interval.textContent = percentRange(status.recall_low, status.recall_high);
    this.#explain("recall", status.recall_unknown);
    this.#setBudget(status.n_pages, status.page_budget);
  }

  #set(name, text) {
    if (this.#values[name].textContent !== text) this.#values[name].textContent = text;
  }

  /** Why a number is missing. */
  #explain(name, reason) {
    const { help } = statusColumn(name);
    this.#values[name].closest("div").title = reason ? `${help}; unknown: ${reason}` : help;
  }

  #setBudget(pages, budget) {
    this.#budget.textContent = budget ? ` of ${count(budget)}` : "";
    this.#bar.style.setProperty("--share", budget ? Math.min(1, pages / budget).toFixed(4) : 0);
  }
}

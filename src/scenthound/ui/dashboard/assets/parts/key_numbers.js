// The few numbers of a crawl that stand at its head; their places stay when the figures change.

import { lastPoint } from "../curves.js";
import { element, shareBar } from "../dom.js";
import { count, duration, score, speed } from "../format.js";

const FIELDS = [
  ["pages", "pages", null],
  ["harvest", "harvest", "Mean relevance of the pages taken"],
  ["recent", "harvest of late", "Mean relevance of the last 200 pages"],
  ["speed", "pages a second", "Of late"],
  ["left", "time left", "Until the page budget or the time is reached, at this speed"],
  ["frontier", "pages waiting", "The frontier: pages found and not asked for"],
  ["skipped", "not taken", "Pages asked for that are not in the crawl"],
  ["regret", "regret", "Mean score given up because hosts of better pages rested"],
];

export class KeyNumbers {
  #places = {};
  #budget = element("span", { class: "of-budget" });
  #bar = shareBar(0);

  constructor() {
    const cells = FIELDS.map(([name, says, title]) => this.#cell(name, says, title));
    this.element = element("dl", { class: "key-numbers" }, cells);
  }

  #cell(name, says, title) {
    this.#places[name] = element("span", { class: "figure", id: `number-${name}` }, "–");
    const further = name === "pages" && [this.#budget, this.#bar];
    return element("div", { title }, element("dt", {}, says), element("dd", {}, this.#places[name], further));
  }

  /** A crawl of an old version has no status: then the end of its curves tells as much as is known. */
  update(crawl, curves) {
    const told = crawl.status ?? lastPoint(curves);
    const going = crawl.state === "running" || crawl.state === "ending";
    this.#tell("pages", count(told.pages));
    this.#tell("harvest", score(told.harvest));
    this.#tell("recent", score(told.recent_harvest));
    this.#tell("speed", speed(going ? told.pages_per_s : null));
    this.#tell("left", going ? duration(told.seconds_left) : "–");
    this.#tell("frontier", count(told.frontier));
    this.#tell("skipped", count(told.skipped));
    this.#tell("regret", score(told.regret));
    this.#tellBudget(told.pages, told.page_budget);
  }

  #tell(name, text) {
    if (this.#places[name].textContent !== text) this.#places[name].textContent = text;
  }

  #tellBudget(pages, budget) {
    this.#budget.textContent = budget ? ` of ${count(budget)}` : "";
    this.#bar.style.setProperty("--share", budget ? Math.min(1, pages / budget).toFixed(4) : 0);
  }
}

// The labels of a crawl, and retraining of its relevance model on them.

import { change, crawlPath, get, whyReadOnly } from "../api.js";
import { button, element, facts, fill, remark, section, untrusted } from "../dom.js";
import { count, counted, score } from "../format.js";
import { commandBox, emptyNote, messageLine, problemBox, reportResult } from "./notes.js";

const MAX_ROWS = 8;
const QUALITY = "Quality: the probability that a relevant page scores higher than an irrelevant one (area under the ROC curve); 0.5 is chance.";

export class Training {
  #id;
  #counts = element("div");
  #missing = element("p", { class: "why-not", id: "retrain-reason" });
  #retrain = button("Retrain the relevance model", () => this.#train(), { "aria-describedby": "retrain-reason" });
  #message = messageLine();
  #outcome = element("div");
  #list = element("ul", { class: "labelled" });
  #labels = null;
  #isTraining = false;

  constructor(id) {
    this.#id = id;
    this.element = section("Your labels", { class: "part training" }, this.#counts, this.#retrain, this.#missing,
      this.#message, this.#outcome, this.#list);
    document.addEventListener("labelled", ({ detail }) => this.#show(detail));
    document.addEventListener("read-only", () => this.#allow());
    this.#load();
  }

  async #load() {
    try {
      this.#show(await get(crawlPath(this.#id, "labels")));
    } catch (problem) {
      this.#retrain.disabled = true;
      fill(this.#counts, problemBox(problem));
    }
  }

  #show(labels) {
    fill(this.#counts, pair(["Relevant", count(labels.n_positive)], ["Not relevant", count(labels.n_negative)]));
    this.#labels = labels;
    this.#allow();
    const rows = labels.pages.slice(0, MAX_ROWS).map(labelledRow);
    const nMore = labels.pages.length - rows.length;
    fill(this.#list, rows, nMore > 0 && element("li", { class: "note" }, `and ${counted(nMore, "more page")}`));
  }

  #allow() {
    const missing = whyReadOnly() ?? this.#labels?.missing;
    this.#retrain.disabled = !this.#labels || Boolean(missing) || this.#isTraining;
    fill(this.#missing, missing && untrusted(missing));
  }

  async #train() {
    this.#isTraining = true;
    this.#allow();
    fill(this.#outcome);
    const done = await reportResult(this.#message, () => change(crawlPath(this.#id, "retrain")));
    this.#isTraining = false;
    this.#allow();
    if (done) fill(this.#outcome, outcome(done));
  }
}

function pair(...rows) {
  return facts(rows, { class: "facts counts" });
}

function labelledRow(page) {
  const [kind, title, text] = page.label ? ["yes", "Relevant", "+"] : ["no", "Not relevant", "−"];
  const sign = element("span", { class: kind, title }, text);
  return element("li", {}, sign, element("a", { href: `#page=${page.visit}` }, untrusted(page.title || page.url)));
}

function outcome(done) {
  const { area_before, area_after } = done.quality;
  const quality = pair(["Quality before", score(area_before)], ["Quality after", score(area_after)]);
  const next = !done.applied && [emptyNote("To crawl with the new relevance model:"), commandBox(done.command)];
  return [quality, remark(QUALITY), next];
}

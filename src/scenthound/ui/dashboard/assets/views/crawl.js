// The page of one crawl: how it stands, live curves, hosts, pages not taken and the latest pages.

import { ask, ofCrawl } from "../api.js";
import { crawlCharts, noCurves } from "../curves.js";
import { element, facts, fill, foreign, section } from "../dom.js";
import { Listener } from "../live.js";
import { Panel, addressField } from "../panel.js";
import { CrawlHead } from "../parts/crawl_head.js";
import { foldedGraph } from "../parts/folded_graph.js";
import { AskedHosts, TopHosts } from "../parts/hosts.js";
import { KeyNumbers } from "../parts/key_numbers.js";
import { LatestPages } from "../parts/latest_pages.js";
import { LiveCharts } from "../parts/live_charts.js";
import { Reasons } from "../parts/reasons.js";
import { Steering } from "../parts/steering.js";

export async function showCrawl(place, id) {
  const crawl = await ask(ofCrawl(id));
  const view = new CrawlView(place, id, crawl);
  view.update(crawl, noCurves());
  new Panel(id);
  new Listener(ofCrawl(id, "events"), (live, curves) => view.live(live, curves), (says) => view.connection(says));
}

class CrawlView {
  #head;
  #latest;
  #charts = new LiveCharts();
  #parts;
  #steering;
  #crawl;

  constructor(place, id, crawl) {
    this.#head = new CrawlHead(id, "Overview");
    this.#latest = new LatestPages(id);
    this.#steering = new Steering(id);
    this.#crawl = crawl;
    const now = () => this.#crawl;
    const [numbers, asked, reasons, top] = [new KeyNumbers(), new AskedHosts(), new Reasons(), new TopHosts(id, now)];
    this.#parts = [this.#head, this.#steering, numbers, asked, reasons];
    const columns = element("div", { class: "columns" }, asked.element, reasons.element, top.element);
    fill(place, this.#head.element, this.#steering.element, numbers.element, this.#charts.element, this.#latest.element,
      addressField(), columns, foldedGraph(id, now), settings(crawl));
  }

  update(crawl, curves) {
    this.#crawl = crawl;
    for (const part of this.#parts) part.update(crawl, curves);
  }

  live({ crawl, latest }, curves) {
    this.update(crawl, curves);
    this.#charts.update(crawlCharts(curves, crawl.relevance_models));
    this.#latest.update(crawl, latest);
  }

  connection(says) {
    this.#head.connection(says);
    this.#steering.connection(says);
  }
}

function settings(crawl) {
  const rows = crawl.settings.map((fact) => [fact.name, foreign(fact.value)]);
  return section("Settings", { class: "part settings" }, facts(rows));
}

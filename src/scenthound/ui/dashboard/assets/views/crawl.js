// The page of one crawl: state, controls, live curves, latest pages, hosts and skipped pages.

import { crawlPath, get } from "../api.js";
import { crawlCharts, noCurves } from "../curves.js";
import { element, facts, fill, section, untrusted } from "../dom.js";
import { isAlive } from "../format.js";
import { Listener } from "../live.js";
import { Panel, urlForm } from "../panel.js";
import { CrawlHead } from "../parts/crawl_head.js";
import { RecentHosts, TopHosts } from "../parts/hosts.js";
import { KeyNumbers } from "../parts/key_numbers.js";
import { LatestPages } from "../parts/latest_pages.js";
import { LiveCharts, linkGraph } from "../parts/charts.js";
import { Reasons } from "../parts/reasons.js";
import { Controls } from "../parts/controls.js";

export async function showCrawl(main, id) {
  const crawl = await get(crawlPath(id));
  const view = new CrawlView(main, id, crawl);
  view.update(crawl, noCurves());
  new Panel(id);
  new Listener(crawlPath(id, "events"), (live, curves) => view.live(live, curves), (message) => view.connection(message));
}

class CrawlView {
  #head;
  #latest;
  #charts = new LiveCharts();
  #parts;
  #controls;
  #crawl;

  constructor(main, id, crawl) {
    this.#head = new CrawlHead(id, "Overview");
    this.#latest = new LatestPages(id);
    this.#controls = new Controls(id);
    this.#crawl = crawl;
    const current = () => this.#crawl;
    const [numbers, recent, reasons, top] = [new KeyNumbers(), new RecentHosts(), new Reasons(), new TopHosts(id, current)];
    this.#parts = [this.#head, this.#controls, numbers, recent, reasons];
    const columns = element("div", { class: "columns" }, recent.element, reasons.element, top.element);
    fill(main, this.#head.element, this.#controls.element, numbers.element, this.#charts.element, this.#latest.element,
      urlForm(), columns, linkGraph(id, current), settings(crawl));
  }

  update(crawl, curves) {
    this.#crawl = crawl;
    for (const part of this.#parts) part.update(crawl, curves);
  }

  live({ crawl, latest }, curves) {
    this.update(crawl, curves);
    // A crawl that ended without a page has no curves.
    const charts = this.#charts.element;
    charts.hidden = !isAlive(crawl.state) && crawl.status?.n_pages === 0;
    if (!charts.hidden) this.#charts.update(crawlCharts(curves, crawl.relevance_models));
    this.#latest.update(crawl, latest);
  }

  connection(message) {
    this.#head.connection(message);
    this.#controls.connection(message);
  }
}

function settings(crawl) {
  const rows = crawl.settings.map((fact) => [fact.name, untrusted(fact.value)]);
  return section("Settings", { class: "part settings" }, facts(rows));
}

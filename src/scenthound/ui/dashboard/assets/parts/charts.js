// The charts of a crawl, updated in place, and its link graph.

import { crawlPath, get } from "../api.js";
import { button, element, fill } from "../dom.js";
import { emptyNote, noPageNote, problemBox } from "./notes.js";

/** Charts that are drawn once and then updated, so that hidden series stay hidden. */
export class LiveCharts {
  #drawn = new Map();
  #charts = element("div", { class: "charts" });

  constructor() {
    const head = element("h2", { class: "unseen" }, "Curves");
    this.element = element("section", { "aria-label": "Curves" }, head, this.#charts);
  }

  update(charts) {
    for (const chart of charts) {
      if (this.#drawn.has(chart.name)) this.#drawn.get(chart.name).update(chart);
      else this.#draw(chart);
    }
  }

  // The element must be on the page first, because its width decides the layout.
  #draw(chart) {
    const figure = element("figure", { class: "live-chart", id: `chart-${chart.name}` });
    this.#charts.append(figure);
    this.#drawn.set(chart.name, globalThis.scenthound.drawChart(figure, chart));
  }
}

/** The link graph, collapsed; it is loaded when it is opened, because that is slow. `crawl` returns the current state. */
export function linkGraph(id, crawl) {
  const content = element("div", { class: "graph-content" });
  const load = async () => {
    fill(content, emptyNote("Loading the links …"));
    try {
      drawGraph(content, await get(crawlPath(id, "graph")), crawl(), load);
    } catch (problem) {
      fill(content, problemBox(problem));
    }
  };
  const head = element("summary", {}, element("h2", {}, "Link graph"));
  const details = element("details", { class: "part graph" }, head, content);
  details.addEventListener("toggle", () => details.open && !content.hasChildNodes() && load());
  return details;
}

function drawGraph(content, graph, crawl, load) {
  const reload = button("Reload", load, { class: "small" });
  const drawing = element("div");
  fill(content, graph.nodes.length ? drawing : noPageNote(crawl), reload);
  if (graph.nodes.length) {
    globalThis.scenthound.drawGraph(drawing, { title: "Pages and how they were discovered", ...graph });
  }
}

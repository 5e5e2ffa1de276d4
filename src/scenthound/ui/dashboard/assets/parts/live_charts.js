// Charts that grow: each is drawn once and told its new points, so what the reader hid stays hidden.

import { element } from "../dom.js";

export class LiveCharts {
  #drawn = new Map();
  #charts = element("div", { class: "charts" });

  constructor() {
    const head = element("h2", { class: "unseen" }, "Curves");
    this.element = element("section", { "aria-label": "Curves" }, head, this.#charts);
  }

  /** Draw the charts, or tell those that are drawn what is new. */
  update(charts) {
    for (const chart of charts) {
      if (this.#drawn.has(chart.name)) this.#drawn.get(chart.name).update(chart);
      else this.#draw(chart);
    }
  }

  // The chart has to be on the page before it is drawn: it asks how wide it may be.
  #draw(chart) {
    const place = element("figure", { class: "chart-place", id: `chart-${chart.name}` });
    this.#charts.append(place);
    this.#drawn.set(chart.name, globalThis.scenthound.drawChart(place, chart));
  }
}

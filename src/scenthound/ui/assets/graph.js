// The link graph of a crawl: a page is a dot, a line goes to the page it was found from, colour tells relevance or
// distance. Pointing at a page shows its way from a seed, its other links, and what it is.
//
// scenthound.drawGraph(element, graph) fills an element. `graph` is what `report/page/figure_data.py` makes.
(() => {
  "use strict";
  const scenthound = (globalThis.scenthound ??= {});
  const { element, drawn, numberText } = scenthound;
  const N_SHADES = 7;
  const STEP = 18;
  const LARGEST = 720;
  const NEAR = 24;
  const KEYS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  const HINT = "Rings are links from a seed. Point at a page to see what it is, or use the arrow keys.";

  // Near is strong, as high relevance is.
  function byDistance(nodes) {
    const last = Math.max(0, ...nodes.map((node) => node.distance));
    const step = last < N_SHADES ? 1 : (last + 1) / N_SHADES;
    const of = (node) => N_SHADES - 1 - Math.min(N_SHADES - 1, Math.floor(node.distance / step));
    return { of, low: "far from the seeds", high: "seeds" };
  }

  // Equal steps up to the largest: some models of relevance never come near 1.
  function byRelevance(nodes) {
    const top = Math.max(...nodes.map((node) => node.relevance ?? 0), 0) || 1;
    const of = (node) => Math.max(0, Math.min(N_SHADES - 1, Math.floor(((node.relevance ?? 0) / top) * N_SHADES)));
    return { of, low: "relevance 0", high: numberText(top) };
  }

  const shadesOf = (nodes, by) => (by === "distance" ? byDistance(nodes) : byRelevance(nodes));

  function shadeKey(shades) {
    const steps = Array.from({ length: N_SHADES }, (_, shade) =>
      drawn("rect", { class: `shade-${shade}`, x: shade * STEP, width: STEP, height: 12 }));
    const bar = drawn("svg", { width: N_SHADES * STEP, height: 12, "aria-hidden": "true" }, ...steps);
    return [element("span", {}, shades.low), bar, element("span", {}, shades.high)];
  }

  const links = (count) => `${count} ${count === 1 ? "link" : "links"}`;

  function pageFacts(node, nOthers) {
    const from = node.distance === 0 ? "a seed" : `${links(node.distance)} from a seed`;
    const more = nOthers ? `; ${links(nOthers)} more to or from pages shown here` : "";
    return `relevance ${numberText(node.relevance)}, visit ${numberText(node.visit)}, ${from}${more}`;
  }

  // The place of the point nearest to the pointer, or null if none is near.
  function nearest(points, x, y) {
    let best = null;
    let least = NEAR ** 2;
    points.forEach((point, place) => {
      const away = (point.x - x) ** 2 + (point.y - y) ** 2;
      if (away < least) [best, least] = [place, away];
    });
    return best;
  }

  class GraphView {
    #graph; #others; #order; #svg; #layer = drawn("g", { class: "layer" });
    #legend = element("p", { class: "shades" });
    #plot = element("div", { class: "plot graph-plot" });
    #chosen = element("p", { class: "chosen-page" }, HINT);
    #box; #speak; #choices; #layout; #size; #by = "relevance"; #read = null; #pinned = null;

    constructor(container, graph) {
      this.#graph = graph;
      this.#others = scenthound.otherLinks(graph);
      this.#order = graph.nodes.map((_, place) => place).sort((a, b) => graph.nodes[a].visit - graph.nodes[b].visit);
      const label = `${graph.title ?? "Links"}. Arrow keys go from page to page.`;
      this.#svg = drawn("svg", { class: "drawing", tabindex: 0, role: "img", "aria-label": label });
      this.#plot.append(this.#svg);
      this.#box = scenthound.floating(this.#plot);
      this.#speak = scenthound.spoken(this.#plot);
      const note = element("p", { class: "note", hidden: !graph.note }, graph.note ?? "");
      container.replaceChildren(this.#head(), this.#legend, this.#plot, this.#chosen, note);
      if (!graph.nodes.length) {
        container.replaceChildren(this.#head(), element("p", { class: "note" }, "Nothing to draw yet."));
        return;
      }
      this.#listen();
      this.#redraw();
      scenthound.onNewWidth(this.#plot, () => this.#redraw());
    }

    #head() {
      this.#choices = ["relevance", "distance"].map((by) => scenthound.button(by, { value: by }, () => {
        this.#by = by;
        this.#redraw();
      }));
      const buttons = element("div", { class: "switch", role: "group", "aria-label": "Colour by" }, ...this.#choices);
      return element("div", { class: "figure-head" }, element("h3", {}, this.#graph.title ?? ""), buttons);
    }

    #listen() {
      this.#svg.addEventListener("pointermove", (event) => {
        const place = this.#pointed(event);
        if (place === null) this.#clear();
        else if (place !== this.#read) this.#show(place);
      });
      this.#svg.addEventListener("click", (event) => {
        const place = this.#pointed(event);
        if (place !== null) this.#choose(place);
      });
      this.#svg.addEventListener("pointerleave", () => this.#clear());
      this.#svg.addEventListener("blur", () => this.#clear());
      this.#svg.addEventListener("keydown", (event) => this.#key(event));
    }

    #redraw() {
      this.#size = Math.min(LARGEST, scenthound.widthOf(this.#plot));
      this.#layout = scenthound.graphLayout(this.#graph.nodes, this.#size);
      const shades = shadesOf(this.#graph.nodes, this.#by);
      const ground = scenthound.graphGround(this.#graph, this.#layout, this.#size);
      this.#svg.setAttribute("viewBox", `0 0 ${this.#size} ${this.#size}`);
      this.#svg.replaceChildren(ground, this.#layer, drawn("g", {}, ...this.#dots(shades)));
      this.#legend.replaceChildren(...shadeKey(shades));
      for (const each of this.#choices) each.setAttribute("aria-pressed", each.value === this.#by);
      this.#clear();
    }

    // The more pages, the smaller their dots; seeds are a little larger.
    #dots(shades) {
      const { nodes } = this.#graph;
      const radius = Math.max(2.2, Math.min(6, (this.#size / 60) * Math.sqrt(60 / Math.max(1, nodes.length))));
      return nodes.map((node, place) => drawn("circle", {
        class: `page shade-${shades.of(node)}`,
        cx: this.#layout.points[place].x.toFixed(1),
        cy: this.#layout.points[place].y.toFixed(1),
        r: (node.distance === 0 ? radius + 1.5 : radius).toFixed(1),
      }));
    }

    #clear() {
      this.#read = null;
      this.#box.hide();
      this.#layer.replaceChildren();
    }

    #show(place) {
      this.#read = place;
      const { title, url } = this.#graph.nodes[place];
      const point = this.#layout.points[place];
      this.#layer.replaceChildren(...scenthound.graphWay(this.#graph, this.#layout, this.#others, place));
      const words = [element("p", { class: "url" }, url), element("p", {}, this.#facts(place))];
      const shown = (this.#svg.clientWidth || this.#size) / this.#size;
      this.#box.show(point.x * shown, point.y * shown + 12, element("p", { class: "head" }, title || url), ...words);
    }

    #facts(place) {
      return pageFacts(this.#graph.nodes[place], this.#others[place].length);
    }

    // What was chosen stays, below the picture, with a link that can be followed.
    #choose(place) {
      this.#pinned = place;
      this.#show(place);
      const { title, url } = this.#graph.nodes[place];
      this.#chosen.replaceChildren(scenthound.link(title || url, url), ` ${this.#facts(place)}`);
    }

    #pointed(event) {
      const sides = this.#svg.getBoundingClientRect();
      const shrunk = this.#size / sides.width;
      return nearest(this.#layout.points, (event.clientX - sides.left) * shrunk, (event.clientY - sides.top) * shrunk);
    }

    #key(event) {
      const step = KEYS[event.key];
      if (event.key === "Escape") this.#clear();
      if (step === undefined || !this.#order.length) return;
      event.preventDefault();
      const at = this.#order.indexOf(this.#read ?? this.#pinned);
      const start = at < 0 && step < 0 ? 0 : at;
      const place = this.#order[(start + step + this.#order.length) % this.#order.length];
      this.#choose(place);
      this.#speak(this.#chosen.textContent);
    }
  }

  scenthound.drawGraph = (container, graph) => {
    new GraphView(container, graph);
  };
})();

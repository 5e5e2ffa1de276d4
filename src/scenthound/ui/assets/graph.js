// The link graph of a crawl: a dot for each page, a line to the page it was discovered on, and colours for relevance or
// distance. Pointing at a page shows its path from a seed, its other links, and its title.
//
// Seeds are in the centre, pages on rings by their distance. Each page has a share of the circle in proportion to the
// leaves below it, so children are near the direction of their parent. On crowded rings neighbours are staggered.
//
// scenthound.drawGraph(element, graph) fills an element. `graph` is the JSON of a `LinkGraph` of ui/document.py.
(() => {
  "use strict";
  const scenthound = (globalThis.scenthound ??= {});
  const { element, drawn, numberText } = scenthound;
  // The children of each page, and the number of leaves below it. Parents precede their children.
  function tree(nodes) {
    const children = nodes.map(() => []);
    nodes.forEach((node, index) => node.parent !== null && children[node.parent].push(index));
    const leaves = nodes.map(() => 0);
    for (let index = nodes.length - 1; index >= 0; index -= 1) {
      leaves[index] = Math.max(1, children[index].reduce((sum, child) => sum + leaves[child], 0));
    }
    return { children, leaves };
  }

  // The direction of each page: the centre of its share of the circle.
  function directions(nodes) {
    const { children, leaves } = tree(nodes);
    const roots = nodes.flatMap((node, index) => (node.parent === null ? [index] : []));
    const shares = nodes.map(() => [0, 2 * Math.PI]);
    const divide = (indices, [from, to]) => {
      const all = indices.reduce((sum, index) => sum + leaves[index], 0);
      let start = from;
      for (const index of indices) {
        const end = start + ((to - from) * leaves[index]) / all;
        shares[index] = [start, end];
        start = end;
      }
    };
    divide(roots, [0, 2 * Math.PI]);
    children.forEach((indices, index) => indices.length && divide(indices, shares[index]));
    return { angles: shares.map(([from, to]) => (from + to) / 2 - Math.PI / 2), nRoots: roots.length };
  }

  // A single seed is in the centre, several are on a small ring. Rings with many pages are further out, where there is
  // more space.
  function radii(counts, nRoots, size) {
    const outer = size / 2 - 14;
    const first = nRoots > 1 ? Math.min(0.3, 0.06 + nRoots * 0.01) * outer : 0;
    const most = Math.max(1, ...counts.slice(1));
    const gaps = counts.map((count, ring) => (ring === 0 ? 0 : 0.4 + count / most));
    const all = gaps.reduce((sum, gap) => sum + gap, 0) || 1;
    let sum = 0;
    return gaps.map((gap) => first + ((outer - first) * (sum += gap)) / all);
  }

  // Positions in a square of `size` pixels, and the radii of the rings.
  const graphLayout = (nodes, size) => {
    const { angles, nRoots } = directions(nodes);
    const nRings = Math.max(0, ...nodes.map((node) => node.distance));
    const counts = Array.from({ length: nRings + 1 }, () => 0);
    nodes.forEach((node) => (counts[node.distance] += 1));
    const rings = radii(counts, nRoots, size);
    const seen = rings.map(() => 0);
    const points = nodes.map((node, index) => {
      const ring = node.distance;
      const isCrowded = ring > 0 && (2 * Math.PI * rings[ring]) / counts[ring] < 9;
      // Staggered in three lines; those of the outermost ring go inwards.
      const line = (seen[ring]++ % 3) - (ring === nRings ? 2 : 1);
      const radius = rings[ring] + (isCrowded ? line * Math.min(9, (rings[ring] - rings[ring - 1]) / 4) : 0);
      return { x: size / 2 + radius * Math.cos(angles[index]), y: size / 2 + radius * Math.sin(angles[index]) };
    });
    return { points, rings };
  };

  const between = (from, to) => ({ x1: from.x, y1: from.y, x2: to.x, y2: to.y });

  // Links that are not part of the tree, by page.
  const otherLinks = (graph) => {
    const found = graph.nodes.map(() => []);
    for (const [from, to] of graph.links ?? []) {
      if (!graph.nodes[from] || !graph.nodes[to]) continue;
      found[from].push(to);
      found[to].push(from);
    }
    return found;
  };

  // Rings with their numbers, and the lines between pages and their parents.
  const background = (graph, { points, rings }, size) => {
    const middle = size / 2;
    const circles = rings.map((r) => drawn("circle", { class: "ring", cx: middle, cy: middle, r }));
    const branches = graph.nodes.flatMap((node, index) => (node.parent === null ? []
      : [drawn("line", { class: "branch", ...between(points[index], points[node.parent]) })]));
    const numbers = rings.map((r, ring) =>
      drawn("text", { class: "ring-number", x: middle, y: middle - r + 4, "text-anchor": "middle" }, String(ring)));
    return drawn("g", {}, ...circles, ...branches, ...numbers.slice(1));
  };

  // The path to a seed, the other links, and a ring around the page.
  const highlight = (graph, { points }, others, index) => {
    const parts = others[index].map((other) =>
      drawn("line", { class: "other-link", ...between(points[index], points[other]) }));
    for (let at = index; graph.nodes[at].parent !== null; at = graph.nodes[at].parent) {
      parts.push(drawn("line", { class: "path", ...between(points[at], points[graph.nodes[at].parent]) }));
    }
    return [...parts, drawn("circle", { class: "selected", cx: points[index].x, cy: points[index].y, r: 8 })];
  };

  const N_SHADES = 7;
  const STEP = 18;
  const LARGEST = 720;
  const NEAR = 24;
  const KEYS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  const HINT = "Rings: links from a seed. Point at a page for details, or use the arrow keys.";

  // Pages near a seed have the strongest colour.
  function byDistance(nodes) {
    const last = Math.max(0, ...nodes.map((node) => node.distance));
    const step = last < N_SHADES ? 1 : (last + 1) / N_SHADES;
    const of = (node) => N_SHADES - 1 - Math.min(N_SHADES - 1, Math.floor(node.distance / step));
    return { of, low: "far from the seeds", high: "seeds" };
  }

  // Equal steps up to the maximum, because some relevance models stay far below 1.
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

  // The index of the point nearest to the pointer; null if none is near.
  function nearest(points, x, y) {
    let best = null;
    let least = NEAR ** 2;
    points.forEach((point, index) => {
      const away = (point.x - x) ** 2 + (point.y - y) ** 2;
      if (away < least) [best, least] = [index, away];
    });
    return best;
  }

  class GraphView {
    #graph; #others; #order; #svg; #layer = drawn("g", { class: "layer" });
    #legend = element("p", { class: "shades" });
    #plot = element("div", { class: "plot graph-plot" });
    #selected = element("p", { class: "selected-page" }, HINT);
    #box; #speak; #choices; #layout; #size; #by = "relevance"; #read = null; #pinned = null;

    constructor(container, graph) {
      this.#graph = graph;
      this.#others = otherLinks(graph);
      this.#order = graph.nodes.map((_, index) => index).sort((a, b) => graph.nodes[a].visit - graph.nodes[b].visit);
      const label = `${graph.title ?? "Links"}. Arrow keys go from page to page.`;
      this.#svg = drawn("svg", { class: "drawing", tabindex: 0, role: "img", "aria-label": label });
      this.#plot.append(this.#svg);
      this.#box = scenthound.floating(this.#plot);
      this.#speak = scenthound.spoken(this.#plot);
      const note = element("p", { class: "note", hidden: !graph.note }, graph.note ?? "");
      container.replaceChildren(this.#head(), this.#legend, this.#plot, this.#selected, note);
      if (!graph.nodes.length) {
        container.replaceChildren(this.#head(), element("p", { class: "note" }, "No pages yet."));
        return;
      }
      this.#listen();
      this.#redraw();
      scenthound.onResize(this.#plot, () => this.#redraw());
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
        const index = this.#pointed(event);
        if (index === null) this.#clear();
        else if (index !== this.#read) this.#show(index);
      });
      this.#svg.addEventListener("click", (event) => {
        const index = this.#pointed(event);
        if (index !== null) this.#select(index);
      });
      this.#svg.addEventListener("pointerleave", () => this.#clear());
      this.#svg.addEventListener("blur", () => this.#clear());
      this.#svg.addEventListener("keydown", (event) => this.#key(event));
    }

    #redraw() {
      this.#size = Math.min(LARGEST, scenthound.widthOf(this.#plot));
      this.#layout = graphLayout(this.#graph.nodes, this.#size);
      const shades = shadesOf(this.#graph.nodes, this.#by);
      const ground = background(this.#graph, this.#layout, this.#size);
      this.#svg.setAttribute("viewBox", `0 0 ${this.#size} ${this.#size}`);
      this.#svg.replaceChildren(ground, this.#layer, drawn("g", {}, ...this.#dots(shades)));
      this.#legend.replaceChildren(...shadeKey(shades));
      for (const each of this.#choices) each.setAttribute("aria-pressed", each.value === this.#by);
      this.#clear();
    }

    // Dots are smaller if there are many; seeds are a little larger.
    #dots(shades) {
      const { nodes } = this.#graph;
      const radius = Math.max(2.2, Math.min(6, (this.#size / 60) * Math.sqrt(60 / Math.max(1, nodes.length))));
      return nodes.map((node, index) => drawn("circle", {
        class: `page shade-${shades.of(node)}`,
        cx: this.#layout.points[index].x.toFixed(1),
        cy: this.#layout.points[index].y.toFixed(1),
        r: (node.distance === 0 ? radius + 1.5 : radius).toFixed(1),
      }));
    }

    #clear() {
      this.#read = null;
      this.#box.hide();
      this.#layer.replaceChildren();
    }

    #show(index) {
      this.#read = index;
      const { title, url } = this.#graph.nodes[index];
      const point = this.#layout.points[index];
      this.#layer.replaceChildren(...highlight(this.#graph, this.#layout, this.#others, index));
      const content = [element("p", { class: "url" }, url), element("p", {}, this.#facts(index))];
      const scale = (this.#svg.clientWidth || this.#size) / this.#size;
      this.#box.show(point.x * scale, point.y * scale + 12, element("p", { class: "head" }, title || url), ...content);
    }

    #facts(index) {
      return pageFacts(this.#graph.nodes[index], this.#others[index].length);
    }

    // The selected page stays below the graph, with a link.
    #select(index) {
      this.#pinned = index;
      this.#show(index);
      const { title, url } = this.#graph.nodes[index];
      this.#selected.replaceChildren(scenthound.link(title || url, url), ` ${this.#facts(index)}`);
    }

    #pointed(event) {
      const sides = this.#svg.getBoundingClientRect();
      const ratio = this.#size / sides.width;
      return nearest(this.#layout.points, (event.clientX - sides.left) * ratio, (event.clientY - sides.top) * ratio);
    }

    #key(event) {
      const step = KEYS[event.key];
      if (event.key === "Escape") this.#clear();
      if (step === undefined || !this.#order.length) return;
      event.preventDefault();
      const at = this.#order.indexOf(this.#read ?? this.#pinned);
      const start = at < 0 && step < 0 ? 0 : at;
      const index = this.#order[(start + step + this.#order.length) % this.#order.length];
      this.#select(index);
      this.#speak(this.#selected.textContent);
    }
  }

  scenthound.drawGraph = (container, graph) => {
    new GraphView(container, graph);
  };
})();

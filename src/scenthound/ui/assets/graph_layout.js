// Where the pages of a link graph stand, and the lines between them: seeds are in the middle, pages on rings by their
// distance from them.
//
// The circle is shared out by leaves, so that a page's children stand around its own direction. On crowded rings
// neighbours stand a little further in and out.
(() => {
  "use strict";
  const scenthound = (globalThis.scenthound ??= {});
  const { drawn } = scenthound;

  // Children of each page, and how many leaves hang on it. Parents stand before their children.
  function tree(nodes) {
    const children = nodes.map(() => []);
    nodes.forEach((node, place) => node.parent !== null && children[node.parent].push(place));
    const leaves = nodes.map(() => 0);
    for (let place = nodes.length - 1; place >= 0; place -= 1) {
      leaves[place] = Math.max(1, children[place].reduce((sum, child) => sum + leaves[child], 0));
    }
    return { children, leaves };
  }

  // The direction of each page: the middle of its share of the circle.
  function directions(nodes) {
    const { children, leaves } = tree(nodes);
    const roots = nodes.flatMap((node, place) => (node.parent === null ? [place] : []));
    const shares = nodes.map(() => [0, 2 * Math.PI]);
    const shareOut = (places, [from, to]) => {
      const all = places.reduce((sum, place) => sum + leaves[place], 0);
      let start = from;
      for (const place of places) {
        const end = start + ((to - from) * leaves[place]) / all;
        shares[place] = [start, end];
        start = end;
      }
    };
    shareOut(roots, [0, 2 * Math.PI]);
    children.forEach((places, place) => places.length && shareOut(places, shares[place]));
    return { angles: shares.map(([from, to]) => (from + to) / 2 - Math.PI / 2), nRoots: roots.length };
  }

  // One seed stands in the very middle, several on a small ring of their own. Before a ring of many pages there is more
  // room than before one of few, so that most pages stand where the circle is long.
  function radii(counts, nRoots, size) {
    const outer = size / 2 - 14;
    const first = nRoots > 1 ? Math.min(0.3, 0.06 + nRoots * 0.01) * outer : 0;
    const most = Math.max(1, ...counts.slice(1));
    const gaps = counts.map((count, ring) => (ring === 0 ? 0 : 0.4 + count / most));
    const all = gaps.reduce((sum, gap) => sum + gap, 0) || 1;
    let sum = 0;
    return gaps.map((gap) => first + ((outer - first) * (sum += gap)) / all);
  }

  // Places in a square of `size` pixels, and the radii of the rings.
  scenthound.graphLayout = (nodes, size) => {
    const { angles, nRoots } = directions(nodes);
    const nRings = Math.max(0, ...nodes.map((node) => node.distance));
    const counts = Array.from({ length: nRings + 1 }, () => 0);
    nodes.forEach((node) => (counts[node.distance] += 1));
    const rings = radii(counts, nRoots, size);
    const seen = rings.map(() => 0);
    const points = nodes.map((node, place) => {
      const ring = node.distance;
      const isCrowded = ring > 0 && (2 * Math.PI * rings[ring]) / counts[ring] < 9;
      // Three lines side by side; those of the outermost ring go inwards.
      const line = (seen[ring]++ % 3) - (ring === nRings ? 2 : 1);
      const radius = rings[ring] + (isCrowded ? line * Math.min(9, (rings[ring] - rings[ring - 1]) / 4) : 0);
      return { x: size / 2 + radius * Math.cos(angles[place]), y: size / 2 + radius * Math.sin(angles[place]) };
    });
    return { points, rings };
  };

  const between = (one, other) => ({ x1: one.x, y1: one.y, x2: other.x, y2: other.y });

  // Links beside those of the tree, page by page.
  scenthound.otherLinks = (graph) => {
    const found = graph.nodes.map(() => []);
    for (const [from, to] of graph.links ?? []) {
      if (!graph.nodes[from] || !graph.nodes[to]) continue;
      found[from].push(to);
      found[to].push(from);
    }
    return found;
  };

  // Rings with their numbers, and the line of each page to the one it was found from.
  scenthound.graphGround = (graph, { points, rings }, size) => {
    const middle = size / 2;
    const circles = rings.map((r) => drawn("circle", { class: "ring", cx: middle, cy: middle, r }));
    const branches = graph.nodes.flatMap((node, place) => (node.parent === null ? []
      : [drawn("line", { class: "branch", ...between(points[place], points[node.parent]) })]));
    const numbers = rings.map((r, ring) =>
      drawn("text", { class: "ring-number", x: middle, y: middle - r + 4, "text-anchor": "middle" }, String(ring)));
    return drawn("g", {}, ...circles, ...branches, ...numbers.slice(1));
  };

  // The way to a seed, the other links, and a ring around the page.
  scenthound.graphWay = (graph, { points }, others, place) => {
    const parts = others[place].map((other) =>
      drawn("line", { class: "other-link", ...between(points[place], points[other]) }));
    for (let at = place; graph.nodes[at].parent !== null; at = graph.nodes[at].parent) {
      parts.push(drawn("line", { class: "way", ...between(points[at], points[graph.nodes[at].parent]) }));
    }
    return [...parts, drawn("circle", { class: "chosen", cx: points[place].x, cy: points[place].y, r: 8 })];
  };
})();

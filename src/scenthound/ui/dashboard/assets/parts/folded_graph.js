// The link graph of a crawl, asked for when the reader opens it: it costs the server more than the rest of the page.

import { ask, ofCrawl } from "../api.js";
import { button, element, fill } from "../dom.js";
import { emptyNote, noPageNote, problemBox } from "./notes.js";

/** The graph, folded; `crawl` tells how the crawl stands now. */
export function foldedGraph(id, crawl) {
  const place = element("div", { class: "graph-place" });
  const load = async () => {
    fill(place, emptyNote("Reading the links …"));
    try {
      draw(place, await ask(ofCrawl(id, "graph")), crawl(), load);
    } catch (problem) {
      fill(place, problemBox(problem));
    }
  };
  const head = element("summary", {}, element("h2", {}, "Link graph"));
  const made = element("details", { class: "part graph" }, head, place);
  made.addEventListener("toggle", () => made.open && !place.hasChildNodes() && load());
  return made;
}

function draw(place, graph, crawl, load) {
  if (!graph.nodes.length) {
    fill(place, noPageNote(crawl), button("Read it again", load, { class: "small" }));
    return;
  }
  const drawn = element("div");
  fill(place, drawn, button("Read it again", load, { class: "small" }));
  globalThis.scenthound.drawGraph(drawn, { title: "Pages and how they were found", ...graph });
}

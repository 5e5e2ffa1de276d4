// A list of pages, loaded in steps, with the number of results.

import { crawlPath, get } from "../api.js";
import { button, element, fill } from "../dom.js";
import { count, counted, percent } from "../format.js";
import { labelButtons } from "./labels.js";
import { emptyNote, noPageNote, problemBox } from "./notes.js";
import { hasOnlyExclusions, pageRow, searchWords } from "./page_row.js";

const ROWS = 25;
const INDEXING_MS = 2000;

export class PageList {
  #id;
  #crawl;
  #found = element("p", { class: "note found", role: "status", "aria-live": "polite" });
  #indexed = element("p", { class: "note" });
  #list = element("ol", { class: "pages browsed" });
  #end = element("div", { class: "list-end" });
  #filter = null;
  #request = new AbortController();
  #timer = 0;
  #isFirst = true;

  /** `crawl` returns the current state. */
  constructor(id, crawl) {
    this.#id = id;
    this.#crawl = crawl;
    this.element = element("div", {}, this.#found, this.#indexed, this.#list, this.#end);
  }

  /** Show the first pages; earlier requests are aborted. */
  show(filter) {
    this.#filter = filter;
    this.#request.abort();
    clearTimeout(this.#timer);
    this.#request = new AbortController();
    // A click would hit a page that is about to be replaced.
    this.#list.inert = true;
    this.#load(null);
  }

  async #load(from) {
    try {
      const response = await get(crawlPath(this.#id, "pages"), { ...this.#filter, from, limit: ROWS }, this.#request.signal);
      this.#show(response, from);
    } catch (problem) {
      if (problem.name === "AbortError") return;
      fill(this.#end, problemBox(problem));
      this.#list.inert = false;
    }
  }

  #show(response, from) {
    const rows = response.pages.map((page) => this.#row(page));
    this.#list.inert = false;
    if (from === null) fill(this.#list, rows);
    else this.#list.append(...rows);
    fill(this.#found, foundLine(response, this.#filter));
    this.#showIndexing(response.indexing);
    fill(this.#end, this.#more(response.next));
    if (from !== null) rows[0]?.querySelector("a").focus({ preventScroll: true });
    this.#isFirst = from === null;
  }

  #row(page) {
    return pageRow(page, { words: searchWords(this.#filter.query), further: labelButtons(this.#id, page) });
  }

  #more(next) {
    if (next !== null) return button("Load more", (event) => ((event.target.disabled = true), this.#load(next)));
    if (this.#list.children.length) return null;
    if (hasOnlyExclusions(this.#filter.query)) return emptyNote("Add a word that must occur.");
    return this.#filter.query || this.#filter.host ? emptyNote("No pages found.") : noPageNote(this.#crawl());
  }

  // The index is still being built: repeat until it is complete.
  #showIndexing(indexing) {
    const isComplete = !indexing || indexing.indexed >= indexing.pages;
    fill(this.#indexed, isComplete ? "" : indexingLine(indexing));
    clearTimeout(this.#timer);
    if (!isComplete && indexing.running) this.#timer = setTimeout(() => this.#refresh(), INDEXING_MS);
  }

  async #refresh() {
    if (this.#filter.query && this.#isFirst && !this.#list.matches(":hover, :focus-within")) return this.#load(null);
    const requested = this.#filter;
    const filter = { ...requested, limit: 1 };
    const response = await get(crawlPath(this.#id, "pages"), filter, this.#request.signal).catch(() => null);
    if (response && this.#filter === requested) this.#showIndexing(response.indexing);
  }
}

function foundLine(response, filter) {
  const found = filter.query || filter.host ? " found" : "";
  return response.found === null ? "" : `${counted(response.found, "page")}${found}`;
}

function indexingLine(indexing) {
  const share = percent(indexing.indexed / indexing.pages);
  const progress = indexing.running ? "Indexing continues." : "Indexing continues when you search.";
  return `${count(indexing.indexed)} of ${counted(indexing.pages, "page")} (${share}) can be searched. ${progress}`;
}

// A list of pages that grows when the reader asks for more, with what is known of how many there are.

import { ask, ofCrawl } from "../api.js";
import { button, element, fill } from "../dom.js";
import { count, counted, percent } from "../format.js";
import { labelButtons } from "./labels.js";
import { isOnlyUnwanted, searchWords } from "./marked_text.js";
import { emptyNote, noPageNote, problemBox } from "./notes.js";
import { pageRow } from "./page_row.js";

const ROWS = 25;
const INDEXING_MS = 2000;

export class PageList {
  #id;
  #crawl;
  #found = element("p", { class: "note found", role: "status", "aria-live": "polite" });
  #indexed = element("p", { class: "note" });
  #list = element("ol", { class: "pages browsed" });
  #end = element("div", { class: "list-end" });
  #wish = null;
  #asking = new AbortController();
  #again = 0;
  #isBeginning = true;

  /** `crawl` tells how the crawl stands now. */
  constructor(id, crawl) {
    this.#id = id;
    this.#crawl = crawl;
    this.element = element("div", {}, this.#found, this.#indexed, this.#list, this.#end);
  }

  /** Show pages from the beginning; what was asked for before is no longer waited for. */
  show(wish) {
    this.#wish = wish;
    this.#asking.abort();
    clearTimeout(this.#again);
    this.#asking = new AbortController();
    // A click on a page that is about to give way to another would hit the wrong one.
    this.#list.inert = true;
    this.#load(null);
  }

  async #load(from) {
    try {
      const answer = await ask(ofCrawl(this.#id, "pages"), { ...this.#wish, from, limit: ROWS }, this.#asking.signal);
      this.#show(answer, from);
    } catch (problem) {
      if (problem.name === "AbortError") return;
      fill(this.#end, problemBox(problem));
      this.#list.inert = false;
    }
  }

  #show(answer, from) {
    const rows = answer.pages.map((page) => this.#row(page));
    this.#list.inert = false;
    if (from === null) fill(this.#list, rows);
    else this.#list.append(...rows);
    fill(this.#found, foundLine(answer, this.#wish));
    this.#tellIndexing(answer.indexing);
    fill(this.#end, this.#more(answer.next));
    if (from !== null) rows[0]?.querySelector("a").focus({ preventScroll: true });
    this.#isBeginning = from === null;
  }

  #row(page) {
    return pageRow(page, { words: searchWords(this.#wish.query), further: labelButtons(this.#id, page) });
  }

  #more(next) {
    if (next !== null) return button("Load more", (event) => ((event.target.disabled = true), this.#load(next)));
    if (this.#list.children.length) return null;
    if (isOnlyUnwanted(this.#wish.query)) return emptyNote("Name a word that must be there, too.");
    return this.#wish.query || this.#wish.host ? emptyNote("No page found.") : noPageNote(this.#crawl());
  }

  // The index is made while one waits, so it is asked again until it is whole.
  #tellIndexing(indexing) {
    const isWhole = !indexing || indexing.indexed >= indexing.pages;
    fill(this.#indexed, isWhole ? "" : indexingLine(indexing));
    clearTimeout(this.#again);
    if (!isWhole && indexing.running) this.#again = setTimeout(() => this.#lookAgain(), INDEXING_MS);
  }

  async #lookAgain() {
    if (this.#wish.query && this.#isBeginning && !this.#list.matches(":hover, :focus-within")) return this.#load(null);
    const asked = this.#wish;
    const wish = { ...asked, limit: 1 };
    const answer = await ask(ofCrawl(this.#id, "pages"), wish, this.#asking.signal).catch(() => null);
    if (answer && this.#wish === asked) this.#tellIndexing(answer.indexing);
  }
}

function foundLine(answer, wish) {
  const found = wish.query || wish.host ? " found" : "";
  return answer.found === null ? "" : `${counted(answer.found, "page")}${found}`;
}

function indexingLine(indexing) {
  const share = percent(indexing.indexed / indexing.pages);
  const rest = indexing.running ? "The rest is being read." : "The rest is read when you search.";
  return `${count(indexing.indexed)} of ${counted(indexing.pages, "page")} (${share}) can be searched. ${rest}`;
}

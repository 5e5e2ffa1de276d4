// The latest pages of a crawl. The list holds still while the reader points at it or has the focus in it.

import { pageAddress } from "../api.js";
import { element, fill, section } from "../dom.js";
import { noPageNote } from "./notes.js";
import { pageRow } from "./page_row.js";

const MOST_ROWS = 12;

export class LatestPages {
  #list = element("ol", { class: "pages" });
  #held = element("p", { class: "held", "aria-hidden": "true" });
  #waiting = null;

  constructor(id) {
    const all = element("a", { href: pageAddress("crawls", id, "pages") }, "All pages, and search");
    const link = element("p", { class: "aside-link" }, all);
    this.element = section("Latest pages", { class: "part latest" }, link, this.#list, this.#held);
    // What is pointed at, and what has the focus, is known only after the event.
    const soon = () => setTimeout(() => this.#release());
    for (const name of ["mouseleave", "focusout"]) this.#list.addEventListener(name, soon);
  }

  update(crawl, pages) {
    if (!pages.length) this.#tellEmpty(crawl);
    else if (this.#isHeld() && this.#list.querySelector("[data-visit]")) this.#hold(pages);
    else this.#show(pages);
  }

  #tellEmpty(crawl) {
    if (!this.#list.querySelector("[data-visit]")) fill(this.#list, element("li", {}, noPageNote(crawl)));
  }

  #isHeld() {
    return this.#list.matches(":hover") || this.#list.matches(":focus-within");
  }

  #hold(pages) {
    this.#waiting = pages;
    this.#held.textContent = "Held while you point at it.";
  }

  #release() {
    if (this.#waiting && !this.#isHeld()) this.#show(this.#waiting);
  }

  #show(pages) {
    this.#waiting = null;
    this.#held.textContent = "";
    const rows = new Map([...this.#list.children].map((row) => [Number(row.dataset.visit), row]));
    fill(this.#list, pages.slice(0, MOST_ROWS).map((page) => rows.get(page.visit) ?? pageRow(page)));
  }
}

// The latest pages of a crawl. The list is not updated while the reader points at it or has the focus in it.

import { pagePath } from "../api.js";
import { element, fill, section } from "../dom.js";
import { noPageNote } from "./notes.js";
import { pageRow } from "./page_row.js";

const MAX_ROWS = 12;

export class LatestPages {
  #list = element("ol", { class: "pages" });
  #note = element("p", { class: "held", "aria-hidden": "true" });
  #pending = null;

  constructor(id) {
    const all = element("a", { href: pagePath("crawls", id, "pages") }, "All pages, and search");
    const link = element("p", { class: "aside-link" }, all);
    this.element = section("Latest pages", { class: "part latest" }, link, this.#list, this.#note);
    // Hover and focus are updated after the event.
    const soon = () => setTimeout(() => this.#release());
    for (const name of ["mouseleave", "focusout"]) this.#list.addEventListener(name, soon);
  }

  update(crawl, pages) {
    if (!pages.length) this.#showEmpty(crawl);
    else if (this.#isHeld() && this.#list.querySelector("[data-visit]")) this.#hold(pages);
    else this.#show(pages);
  }

  #showEmpty(crawl) {
    if (!this.#list.querySelector("[data-visit]")) fill(this.#list, element("li", {}, noPageNote(crawl)));
  }

  #isHeld() {
    return this.#list.matches(":hover") || this.#list.matches(":focus-within");
  }

  #hold(pages) {
    this.#pending = pages;
    this.#note.textContent = "Updates are paused while you point at the list.";
  }

  #release() {
    if (this.#pending && !this.#isHeld()) this.#show(this.#pending);
  }

  #show(pages) {
    this.#pending = null;
    this.#note.textContent = "";
    const rows = new Map([...this.#list.children].map((row) => [Number(row.dataset.visit), row]));
    fill(this.#list, pages.slice(0, MAX_ROWS).map((page) => rows.get(page.visit) ?? pageRow(page)));
  }
}

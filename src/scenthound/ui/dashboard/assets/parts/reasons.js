// Why pages were skipped: how many for each reason, with a link to examples.

import { crawlPath, get } from "../api.js";
import { since } from "../clock.js";
import { arrange, button, element, externalLink, fill, section, shareBar } from "../dom.js";
import { count } from "../format.js";
import { emptyNote, problemBox } from "./notes.js";

const MAX_ROWS = 30;

export class Reasons {
  #list = element("ul", { class: "reasons" });
  #current = "";

  constructor() {
    this.element = section("Skipped pages", {}, this.#list);
    fill(this.#list, element("li", {}, emptyNote("None.")));
  }

  update(crawl) {
    const { reasons } = crawl;
    const next = JSON.stringify(reasons);
    if (next === this.#current || !reasons.length) return;
    this.#current = next;
    this.#show(reasons);
  }

  // Rows are reused, so that they keep the focus.
  #show(reasons) {
    const rows = new Map([...this.#list.children].map((row) => [row.dataset.reason, row]));
    arrange(this.#list, reasons.map((each) => updated(rows.get(each.reason) ?? reasonRow(each), each, reasons[0].pages)));
  }
}

function reasonRow(reason) {
  const link = element("a", { href: `#reason=${encodeURIComponent(reason.reason)}`, title: "Examples" }, reason.text);
  const made = element("li", {}, link, element("span", { class: "figure" }), shareBar(0));
  made.dataset.reason = reason.reason;
  return made;
}

function updated(row, reason, most) {
  row.querySelector(".figure").textContent = count(reason.pages);
  row.querySelector(".share").style.setProperty("--share", (reason.pages / most).toFixed(3));
  return row;
}

/** Examples of reason reason, more of them on request. */
export function skippedList(id, reason) {
  const list = element("ul", { class: "skipped" });
  const container = element("div", {}, list);
  const more = button("Load more", () => load(more.dataset.from));
  const load = async (from) => {
    more.remove();
    try {
      const response = await get(crawlPath(id, "skipped"), { reason, from, limit: MAX_ROWS });
      if (from === null && response.pages.length) container.prepend(element("p", {}, `Reason: ${response.pages[0].text}.`));
      list.append(...response.pages.map(skippedRow));
      if (!list.children.length) container.append(emptyNote("None."));
      if (response.next !== null) container.append(more);
      more.dataset.from = response.next;
    } catch (problem) {
      container.append(problemBox(problem));
    }
  };
  load(null);
  return container;
}

function skippedRow(page) {
  const detail = [page.detail, page.status && `status ${page.status}`].filter(Boolean).join(", ");
  const why = element("a", { href: `#url=${encodeURIComponent(page.url)}` }, "Why?");
  return element("li", {}, externalLink(page.url, page.url, { class: "address" }),
    element("p", { class: "numbers" }, detail && element("bdi", {}, detail), since(page.time_s), why));
}

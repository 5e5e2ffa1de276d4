// Why pages were skipped: how many for each reason, with a link to examples.

import { ask, ofCrawl } from "../api.js";
import { since } from "../clock.js";
import { arrange, button, element, fill, outside, section, shareBar } from "../dom.js";
import { count } from "../format.js";
import { emptyNote, problemBox } from "./notes.js";

const MOST_ROWS = 30;

export class Reasons {
  #list = element("ul", { class: "reasons" });
  #shown = "";

  constructor() {
    this.element = section("Skipped pages", {}, this.#list);
    fill(this.#list, element("li", {}, emptyNote("None so far.")));
  }

  update(crawl) {
    const { reasons } = crawl;
    const now = JSON.stringify(reasons);
    if (now === this.#shown || !reasons.length) return;
    this.#shown = now;
    this.#show(reasons);
  }

  // Rows are kept, so that a row that has the focus does not lose it.
  #show(reasons) {
    const rows = new Map([...this.#list.children].map((row) => [row.dataset.reason, row]));
    arrange(this.#list, reasons.map((one) => tell(rows.get(one.reason) ?? reasonRow(one), one, reasons[0].pages)));
  }
}

function reasonRow(one) {
  const link = element("a", { href: `#reason=${encodeURIComponent(one.reason)}`, title: "Examples" }, one.text);
  const made = element("li", {}, link, element("span", { class: "figure" }), shareBar(0));
  made.dataset.reason = one.reason;
  return made;
}

function tell(row, one, most) {
  row.querySelector(".figure").textContent = count(one.pages);
  row.querySelector(".share").style.setProperty("--share", (one.pages / most).toFixed(3));
  return row;
}

/** Examples of one reason, more of them on request. */
export function skippedList(id, reason) {
  const list = element("ul", { class: "refused" });
  const place = element("div", {}, list);
  const more = button("More", () => load(more.dataset.from));
  const load = async (from) => {
    more.remove();
    try {
      const answer = await ask(ofCrawl(id, "skipped"), { reason, from, limit: MOST_ROWS });
      if (from === null && answer.pages.length) place.prepend(element("p", {}, `Reason: ${answer.pages[0].text}.`));
      list.append(...answer.pages.map(skippedRow));
      if (!list.children.length) place.append(emptyNote("None."));
      if (answer.next !== null) place.append(more);
      more.dataset.from = answer.next;
    } catch (problem) {
      place.append(problemBox(problem));
    }
  };
  load(null);
  return place;
}

function skippedRow(page) {
  const detail = [page.detail, page.status && `status ${page.status}`].filter(Boolean).join(", ");
  const why = element("a", { href: `#url=${encodeURIComponent(page.url)}` }, "Why?");
  return element("li", {}, outside(page.url, page.url, { class: "address" }),
    element("p", { class: "numbers" }, detail && element("bdi", {}, detail), since(page.time_s), why));
}

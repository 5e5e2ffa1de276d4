// The side panel: what the part behind the # of the address asks for, so that it can be linked and left by going back.
//
// #page=12 why page 12 was chosen; #url=... what became of an address; #reason=robots pages not taken for it.

import { ask, ofCrawl } from "./api.js";
import { button, element, fill, sendButton } from "./dom.js";
import { explanation } from "./parts/explanation.js";
import { problemBox } from "./parts/notes.js";
import { skippedList } from "./parts/reasons.js";

export class Panel {
  #id;
  #title = element("h2", { id: "panel-title", tabindex: "-1" });
  #body = element("div", { class: "panel-body" });
  #element;
  #cameFrom = null;
  #asked = 0;

  constructor(id) {
    this.#id = id;
    const close = button("Close", () => this.#leave(), { class: "small" });
    this.#element = element("aside", { class: "panel", hidden: true, "aria-labelledby": "panel-title" },
      element("header", {}, this.#title, close), this.#body);
    document.body.append(this.#element);
    addEventListener("hashchange", () => this.#follow());
    addEventListener("keydown", (event) => this.#pressed(event));
    this.#follow();
  }

  // A question that is open is answered first.
  #pressed(event) {
    const isAsked = document.querySelector("dialog[open]") !== null;
    if (event.key === "Escape" && !this.#element.hidden && !isAsked) this.#leave();
  }

  #follow() {
    const words = new URLSearchParams(location.hash.slice(1));
    const [page, url, reason] = ["page", "url", "reason"].map((name) => words.get(name));
    if (page !== null) this.#explain("Why was it chosen?", ofCrawl(this.#id, "pages", page));
    else if (url !== null) this.#explain("What became of it?", ofCrawl(this.#id, "explain"), { url });
    else if (reason !== null) this.#open("Skipped pages", skippedList(this.#id, reason));
    else this.#close();
  }

  async #explain(title, path, parameters = {}) {
    const asked = this.#open(title, element("p", { class: "empty" }, "Looking it up …"));
    const shown = await ask(path, parameters).then((answer) => explanation(this.#id, answer), problemBox);
    if (asked === this.#asked) fill(this.#body, shown);
  }

  #open(title, ...content) {
    if (this.#element.hidden) this.#cameFrom = document.activeElement;
    this.#element.hidden = false;
    document.body.classList.add("with-panel");
    fill(this.#title, title);
    fill(this.#body, ...content);
    this.#element.scrollTop = 0;
    this.#title.focus({ preventScroll: true });
    return ++this.#asked;
  }

  #leave() {
    history.pushState(null, "", location.pathname + location.search);
    this.#close();
  }

  #close() {
    if (this.#element.hidden) return;
    this.#asked++;
    this.#element.hidden = true;
    document.body.classList.remove("with-panel");
    if (this.#cameFrom?.isConnected) this.#cameFrom.focus({ preventScroll: true });
  }
}

/** A field for any address: what became of it is told in the panel. */
export function addressField() {
  const kind = { type: "url", placeholder: "https://", required: true, maxlength: "4000" };
  const field = element("input", { id: "any-address", ...kind });
  const ask = (event) => {
    event.preventDefault();
    location.hash = `url=${encodeURIComponent(field.value.trim())}`;
  };
  const label = element("label", { for: "any-address" }, "What became of an address?");
  const joined = element("span", { class: "joined" }, field, sendButton("Explain"));
  return element("form", { class: "line-form", submit: ask }, label, joined);
}

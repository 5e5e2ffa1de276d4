// The side panel. The fragment of the URL selects its content, so it can be linked and closed by going back.
//
// #page=12: why page 12 was visited; #url=...: what happened to a URL; #reason=robots: pages skipped for a reason.

import { crawlPath, get } from "./api.js";
import { button, element, fill, submitButton } from "./dom.js";
import { explanation } from "./parts/explanation.js";
import { problemBox } from "./parts/notes.js";
import { skippedList } from "./parts/reasons.js";

export class Panel {
  #id;
  #title = element("h2", { id: "panel-title", tabindex: "-1" });
  #body = element("div", { class: "panel-body" });
  #element;
  #focusedBefore = null;
  #request = 0;

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

  #pressed(event) {
    const hasDialog = document.querySelector("dialog[open]") !== null;
    if (event.key === "Escape" && !this.#element.hidden && !hasDialog) this.#leave();
  }

  #follow() {
    const fragment = new URLSearchParams(location.hash.slice(1));
    const [page, url, reason] = ["page", "url", "reason"].map((name) => fragment.get(name));
    if (page !== null) this.#explain("Why was it visited?", crawlPath(this.#id, "pages", page));
    else if (url !== null) this.#explain("What happened to it?", crawlPath(this.#id, "explain"), { url });
    else if (reason !== null) this.#open("Skipped pages", skippedList(this.#id, reason));
    else this.#close();
  }

  async #explain(title, path, parameters = {}) {
    const request = this.#open(title, element("p", { class: "empty" }, "Loading …"));
    const content = await get(path, parameters).then((response) => explanation(this.#id, response), problemBox);
    if (request === this.#request) fill(this.#body, content);
  }

  #open(title, ...content) {
    if (this.#element.hidden) this.#focusedBefore = document.activeElement;
    this.#element.hidden = false;
    document.body.classList.add("with-panel");
    fill(this.#title, title);
    fill(this.#body, ...content);
    this.#element.scrollTop = 0;
    this.#title.focus({ preventScroll: true });
    return ++this.#request;
  }

  #leave() {
    history.pushState(null, "", location.pathname + location.search);
    this.#close();
  }

  #close() {
    if (this.#element.hidden) return;
    this.#request++;
    this.#element.hidden = true;
    document.body.classList.remove("with-panel");
    if (this.#focusedBefore?.isConnected) this.#focusedBefore.focus({ preventScroll: true });
  }
}

/** A form that explains any URL in the panel. */
export function urlForm() {
  const attributes = { type: "url", placeholder: "https://", required: true, maxlength: "4000" };
  const field = element("input", { id: "any-url", ...attributes });
  const submit = (event) => {
    event.preventDefault();
    location.hash = `url=${encodeURIComponent(field.value.trim())}`;
  };
  const label = element("label", { for: "any-url" }, "What happened to a URL?");
  const joined = element("span", { class: "joined" }, field, submitButton("Explain"));
  return element("form", { class: "line-form", submit }, label, joined);
}

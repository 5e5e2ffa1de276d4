// The page browser of a crawl: search, order, host filter, labels, and retraining of the relevance model.

import { ask, ofCrawl } from "../api.js";
import { element, fill } from "../dom.js";
import { Panel, addressField } from "../panel.js";
import { CrawlHead } from "../parts/crawl_head.js";
import { PageList } from "../parts/page_list.js";
import { Training } from "../parts/training.js";

const ORDERS = {
  latest: "latest first", first: "in order", best: "most relevant first", worst: "least relevant first",
};
const BY_MATCH = "match";
const TYPING_MS = 400;
const AGAIN_MS = 5000;

export async function showPages(place, id) {
  let crawl = await ask(ofCrawl(id));
  const head = new CrawlHead(id, "Pages");
  const list = new PageList(id, () => crawl);
  const form = searchForm(list);
  const side = element("div", { class: "side" }, new Training(id).element, addressField());
  fill(place, head.element, element("div", { class: "browser" }, element("div", {}, form, list.element), side));
  const update = (now) => head.update((crawl = now));
  update(crawl);
  new Panel(id);
  list.show(wished());
  setInterval(() => document.hidden || ask(ofCrawl(id)).then(update, () => null), AGAIN_MS);
}

/** What is looked for stands in the address, so that it can be linked. */
function wished() {
  const words = new URLSearchParams(location.search);
  const order = Object.hasOwn(ORDERS, words.get("order")) ? words.get("order") : "latest";
  return { query: words.get("query") ?? "", host: words.get("host") ?? "", order };
}

function searchForm(list) {
  const wish = wished();
  const query = searchField("query", wish.query, 500, 'words, "a phrase", -without');
  const host = searchField("host", wish.host, 300, "any");
  const order = orderChoice();
  const show = () => {
    const kept = order.disabled ? wished().order : order.value;
    const chosen = { query: query.value.trim(), host: host.value.trim(), order: kept };
    tellOrder(order, chosen);
    if (JSON.stringify(chosen) !== JSON.stringify(wished())) remember(chosen), list.show(chosen);
  };
  tellOrder(order, wish);
  let typing = 0;
  const soon = () => (clearTimeout(typing), (typing = setTimeout(show, TYPING_MS)));
  const now = (event) => (event.preventDefault(), clearTimeout(typing), show());
  const named = (text, field) => element("label", {}, element("span", {}, text), field);
  const fields = [named("Search", query), named("Host", host), named("Order", order)];
  return element("form", { class: "search", role: "search", input: soon, submit: now }, fields);
}

function searchField(name, value, maxlength, placeholder) {
  return element("input", { type: "search", name, value, maxlength, placeholder });
}

function orderChoice() {
  const options = Object.entries(ORDERS).map(([value, text]) => element("option", { value }, text));
  const byMatch = element("option", { value: BY_MATCH, hidden: true, disabled: true }, "best match first");
  return element("select", { name: "order" }, options, byMatch);
}

// A search has an order of its own; the one that was chosen comes back when the search is over.
function tellOrder(order, wish) {
  order.disabled = wish.query !== "";
  order.value = wish.query ? BY_MATCH : wish.order;
  order.title = wish.query ? "What is searched for is shown in the order of how well it matches." : "";
}

function remember(wish) {
  const said = Object.entries(wish).filter(([name, value]) => value && !(name === "order" && value === "latest"));
  const query = new URLSearchParams(said).toString();
  history.replaceState(null, "", location.pathname + (query ? `?${query}` : "") + location.hash);
}

// The page browser of a crawl: search, order, one host; labels on each page, and a guide trained on them.

import { ask, ofCrawl } from "../api.js";
import { element, fill } from "../dom.js";
import { Panel, addressField } from "../panel.js";
import { CrawlHead } from "../parts/crawl_head.js";
import { PageList } from "../parts/page_list.js";
import { Training } from "../parts/training.js";

const ORDERS = {
  latest: "latest first", first: "in order", best: "most relevant first", worst: "least relevant first",
};
const TYPING_MS = 400;
const AGAIN_MS = 5000;

export async function showPages(place, id) {
  const crawl = await ask(ofCrawl(id));
  const head = new CrawlHead(id, "Pages");
  const list = new PageList(id);
  const form = searchForm(list);
  const side = element("div", { class: "side" }, new Training(id).element, addressField());
  fill(place, head.element, element("div", { class: "browser" }, element("div", {}, form, list.element), side));
  head.update(crawl);
  new Panel(id);
  list.show(wished());
  setInterval(() => document.hidden || ask(ofCrawl(id)).then((now) => head.update(now), () => null), AGAIN_MS);
}

/** What is looked for stands in the address, so that it can be linked. */
function wished() {
  const words = new URLSearchParams(location.search);
  return { query: words.get("query") ?? "", host: words.get("host") ?? "", order: words.get("order") ?? "latest" };
}

function searchForm(list) {
  const wish = wished();
  const query = searchField("query", wish.query, 500, 'words, "a phrase", -without');
  const host = searchField("host", wish.host, 300, "any");
  const order = orderChoice(wish.order);
  const show = () => {
    const chosen = { query: query.value.trim(), host: host.value.trim(), order: order.value };
    forbidOrder(order, chosen.query);
    if (JSON.stringify(chosen) !== JSON.stringify(wished())) remember(chosen), list.show(chosen);
  };
  forbidOrder(order, wish.query);
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

function orderChoice(chosen) {
  const option = ([value, text]) => element("option", { value, selected: value === chosen }, text);
  return element("select", { name: "order" }, Object.entries(ORDERS).map(option));
}

// A search has an order of its own.
function forbidOrder(order, query) {
  order.disabled = query !== "";
  order.title = query ? "What is searched for is shown in the order of how well it matches." : "";
}

function remember(wish) {
  const said = Object.entries(wish).filter(([name, value]) => value && !(name === "order" && value === "latest"));
  const query = new URLSearchParams(said).toString();
  history.replaceState(null, "", location.pathname + (query ? `?${query}` : "") + location.hash);
}

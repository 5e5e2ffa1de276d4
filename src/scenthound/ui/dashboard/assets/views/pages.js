// The page browser of a crawl: search, order, host filter, labels, and retraining of the relevance model.

import { crawlPath, get } from "../api.js";
import { element, fill } from "../dom.js";
import { Panel, urlForm } from "../panel.js";
import { CrawlHead } from "../parts/crawl_head.js";
import { PageList } from "../parts/page_list.js";
import { Training } from "../parts/training.js";

const ORDERS = {
  latest: "latest first", first: "in order", best: "most relevant first", worst: "least relevant first",
};
const BY_MATCH = "match";
const TYPING_MS = 400;
const REFRESH_MS = 5000;

export async function showPages(main, id) {
  let crawl = await get(crawlPath(id));
  const head = new CrawlHead(id, "Pages");
  const list = new PageList(id, () => crawl);
  const form = searchForm(list);
  const side = element("div", { class: "side" }, new Training(id).element, urlForm());
  fill(main, head.element, element("div", { class: "browser" }, element("div", {}, form, list.element), side));
  const update = (next) => head.update((crawl = next));
  update(crawl);
  new Panel(id);
  list.show(currentFilter());
  setInterval(() => document.hidden || get(crawlPath(id)).then(update, () => null), REFRESH_MS);
}

/** The filter is part of the URL, so that it can be linked. */
function currentFilter() {
  const parameters = new URLSearchParams(location.search);
  const order = Object.hasOwn(ORDERS, parameters.get("order")) ? parameters.get("order") : "latest";
  return { query: parameters.get("query") ?? "", host: parameters.get("host") ?? "", order };
}

function searchForm(list) {
  const filter = currentFilter();
  const query = searchField("query", filter.query, 500, 'words, "a phrase", -without');
  const host = searchField("host", filter.host, 300, "any");
  const order = orderChoice();
  const show = () => {
    const previous = order.disabled ? currentFilter().order : order.value;
    const chosen = { query: query.value.trim(), host: host.value.trim(), order: previous };
    updateOrder(order, chosen);
    if (JSON.stringify(chosen) !== JSON.stringify(currentFilter())) remember(chosen), list.show(chosen);
  };
  updateOrder(order, filter);
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

// Search results are ordered by match; the selected order is restored when the search ends.
function updateOrder(order, filter) {
  order.disabled = filter.query !== "";
  order.value = filter.query ? BY_MATCH : filter.order;
  order.title = filter.query ? "Search results are ordered by match." : "";
}

function remember(filter) {
  const parameters = Object.entries(filter).filter(([name, value]) => value && !(name === "order" && value === "latest"));
  const query = new URLSearchParams(parameters).toString();
  history.replaceState(null, "", location.pathname + (query ? `?${query}` : "") + location.hash);
}

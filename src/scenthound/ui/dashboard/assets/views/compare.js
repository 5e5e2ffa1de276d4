// Crawls side by side: curves, key numbers with differences to the first crawl, and common pages.

import { get, pagePath } from "../api.js";
import { chart } from "../curves.js";
import { element, fill, remark, section, table, untrusted } from "../dom.js";
import { count, isAlive, percent, timeUnit } from "../format.js";
import { comparisonNotes, differingSettings, numberRows } from "../parts/differences.js";
import { LiveCharts } from "../parts/charts.js";
import { emptyNote, stateLabel } from "../parts/notes.js";

const REFRESH_MS = 5000;
const BELOW = "Below each value: its difference to the first crawl.";
const OVERLAP_COLUMNS = [
  { head: "Crawls", wide: true }, { head: "Both", number: true }, { head: "Only the first", number: true },
  { head: "Only the second", number: true }, { head: "In common", number: true },
];

export async function showComparison(main) {
  document.title = "Comparison · Scenthound";
  const ids = new URLSearchParams(location.search).getAll("crawl");
  const view = { list: element("div"), charts: new LiveCharts(), tables: element("div", { class: "tables" }) };
  const response = await get("/api/compare", { crawl: ids });
  fill(main, element("h1", {}, "Side by side"), view.list, view.charts.element, view.tables);
  follow(ids, response, view);
}

// Running crawls are requested again.
function follow(ids, response, view) {
  if (response && !view.tables.matches(":focus-within")) show(response, view);
  if (response && !response.crawls.some((crawl) => isAlive(crawl.state))) return;
  setTimeout(async () => {
    const next = document.hidden ? null : await get("/api/compare", { crawl: ids }).catch(() => null);
    follow(ids, next, view);
  }, REFRESH_MS);
}

function show(response, view) {
  const names = displayNames(response.crawls);
  fill(view.list, crawlList(response.crawls, names));
  view.charts.update(comparisonCharts(response.curves, names));
  fill(view.tables, keyNumbers(response, names), overlaps(response.overlaps, response.crawls, names),
    settings(response.crawls, names));
}

// Crawls with the same name are listed by id.
function displayNames(crawls) {
  const names = crawls.map((crawl) => crawl.name);
  return crawls.map((crawl) => (names.filter((name) => name === crawl.name).length > 1 ? crawl.id : crawl.name));
}

function crawlList(crawls, names) {
  const rows = crawls.map((crawl, index) => {
    const link = element("a", { href: pagePath("crawls", crawl.id) }, untrusted(names[index]));
    const about = [": ", untrusted(crawl.topic), ", ", untrusted(crawl.strategy)];
    return element("li", {}, link, " ", stateLabel(crawl.state), about);
  });
  return element("ol", { class: "compared" }, rows);
}

function comparisonCharts(curves, names) {
  const unit = timeUnit(Math.max(0, ...curves.map((each) => each.seconds.at(-1) ?? 0)));
  const lines = (across, up) => curves.map((each, index) => ({ name: names[index], x: across(each), y: each[up] }));
  const byPages = (each) => each.pages;
  const byTime = (each) => each.seconds.map((seconds) => seconds / unit.seconds);
  return [
    chart("harvest", "Harvest", axes("pages", "mean relevance"), lines(byPages, "harvest")),
    chart("pages", "Pages", axes(unit.name, "pages"), lines(byTime, "pages")),
    chart("recent-harvest", "Recent harvest", axes("pages", "mean relevance of the last 200 pages"), lines(byPages, "recent_harvest")),
    chart("frontier", "Frontier", axes("pages", "pages queued"), lines(byPages, "frontier")),
  ];
}

function axes(x_label, y_label) {
  return { x_label, y_label };
}

function keyNumbers(response, names) {
  const heads = names.map((name) => ({ head: untrusted(name), number: true }));
  const rows = numberRows(response.crawls, response.curves);
  return section("Key numbers", {}, table("Key numbers of the crawls", [{ head: "", wide: true }, ...heads], rows),
    remark([BELOW, ...comparisonNotes(response.crawls, response.curves)].join(" ")));
}

function overlaps(found, crawls, names) {
  const tooLarge = "These crawls are too large to compare their pages.";
  if (found === null) return section("Pages in common", {}, emptyNote(tooLarge));
  const name = (id) => untrusted(names[crawls.findIndex((crawl) => crawl.id === id)] ?? id);
  const rows = found.map((pair) => [[name(pair.first), " and ", name(pair.second)], count(pair.both), count(pair.only_first),
    count(pair.only_second), percent(pair.jaccard)]);
  return section("Pages in common", {}, table("Pages in common", OVERLAP_COLUMNS, rows),
    remark("In common: the share of the pages visited by either crawl that both visited."));
}

function settings(crawls, names) {
  const rows = differingSettings(crawls);
  if (!rows.length) return section("Settings", {}, emptyNote("These crawls have the same settings."));
  const heads = names.map((name) => ({ head: untrusted(name), wide: true }));
  return section("Settings that differ", {}, table("Settings that differ", [{ head: "" }, ...heads], rows));
}

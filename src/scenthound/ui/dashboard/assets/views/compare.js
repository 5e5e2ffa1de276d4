// Crawls side by side: their curves together, their figures beside those of the first, and the pages they share.

import { ask, pageAddress } from "../api.js";
import { chart } from "../curves.js";
import { element, fill, foreign, remark, section, table } from "../dom.js";
import { count, percent, timeUnit } from "../format.js";
import { differingSettings, figureRows, howCompared } from "../parts/differences.js";
import { LiveCharts } from "../parts/live_charts.js";
import { emptyNote } from "../parts/notes.js";
import { stateWord } from "../parts/state.js";

const AGAIN_MS = 5000;
const BELOW = "Below each figure: how much it differs from that of the first crawl.";
const MOVING = new Set(["running", "paused", "ending"]);
const OVERLAP_COLUMNS = [
  { head: "Crawls", wide: true }, { head: "Both have", number: true }, { head: "Only the first", number: true },
  { head: "Only the second", number: true }, { head: "Shared", number: true },
];

export async function showComparison(place) {
  document.title = "Comparison · Scenthound";
  const ids = new URLSearchParams(location.search).getAll("crawl");
  const view = { list: element("div"), charts: new LiveCharts(), tables: element("div", { class: "tables" }) };
  const together = await ask("/api/compare", { crawl: ids });
  fill(place, element("h1", {}, "Side by side"), view.list, view.charts.element, view.tables);
  follow(ids, together, view);
}

// Crawls that are going on are asked for again.
function follow(ids, together, view) {
  if (together && !view.tables.matches(":focus-within")) show(together, view);
  if (together && !together.crawls.some((crawl) => MOVING.has(crawl.state))) return;
  setTimeout(async () => {
    const now = document.hidden ? null : await ask("/api/compare", { crawl: ids }).catch(() => null);
    follow(ids, now, view);
  }, AGAIN_MS);
}

function show(together, view) {
  const names = shownNames(together.crawls);
  fill(view.list, crawlList(together.crawls, names));
  view.charts.update(comparisonCharts(together.curves, names));
  fill(view.tables, figures(together, names), overlaps(together.overlaps, together.crawls, names),
    settings(together.crawls, names));
}

// Crawls of one name are told apart by their ids.
function shownNames(crawls) {
  const names = crawls.map((crawl) => crawl.name);
  return crawls.map((crawl) => (names.filter((name) => name === crawl.name).length > 1 ? crawl.id : crawl.name));
}

function crawlList(crawls, names) {
  const rows = crawls.map((crawl, place) => {
    const link = element("a", { href: pageAddress("crawls", crawl.id) }, foreign(names[place]));
    const about = [": ", foreign(crawl.topic), ", ", foreign(crawl.strategy)];
    return element("li", {}, link, " ", stateWord(crawl.state), about);
  });
  return element("ol", { class: "compared" }, rows);
}

function comparisonCharts(curves, names) {
  const unit = timeUnit(Math.max(0, ...curves.map((one) => one.seconds.at(-1) ?? 0)));
  const lines = (across, up) => curves.map((one, place) => ({ name: names[place], x: across(one), y: one[up] }));
  const byPages = (one) => one.pages;
  const byTime = (one) => one.seconds.map((seconds) => seconds / unit.seconds);
  return [
    chart("harvest", "Harvest", axes("pages", "mean relevance"), lines(byPages, "harvest")),
    chart("pages", "Pages", axes(unit.name, "pages"), lines(byTime, "pages")),
    chart("of-late", "Harvest of late", axes("pages", "of the last 200 pages"), lines(byPages, "recent_harvest")),
    chart("frontier", "Frontier", axes("pages", "pages that wait"), lines(byPages, "frontier")),
  ];
}

function axes(x_label, y_label) {
  return { x_label, y_label };
}

function figures(together, names) {
  const heads = names.map((name) => ({ head: foreign(name), number: true }));
  const rows = figureRows(together.crawls, together.curves);
  return section("Figures", {}, table("Figures of the crawls", [{ head: "", wide: true }, ...heads], rows),
    remark([BELOW, ...howCompared(together.crawls, together.curves)].join(" ")));
}

function overlaps(found, crawls, names) {
  const tooLarge = "These crawls are too large to be held together.";
  if (found === null) return section("Pages in common", {}, emptyNote(tooLarge));
  const name = (id) => foreign(names[crawls.findIndex((crawl) => crawl.id === id)] ?? id);
  const rows = found.map((one) => [[name(one.first), " and ", name(one.second)], count(one.both), count(one.only_first),
    count(one.only_second), percent(one.jaccard)]);
  return section("Pages in common", {}, table("Pages in common", OVERLAP_COLUMNS, rows),
    remark("Shared: pages that both have, of those that either has."));
}

function settings(crawls, names) {
  const rows = differingSettings(crawls);
  if (!rows.length) return section("Settings", {}, emptyNote("These crawls have the same settings."));
  const heads = names.map((name) => ({ head: foreign(name), wide: true }));
  return section("Settings that differ", {}, table("Settings that differ", [{ head: "" }, ...heads], rows));
}

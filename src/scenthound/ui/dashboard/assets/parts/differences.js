// Figures and settings of several crawls in rows, each beside that of the first.

import { hostColumns } from "../columns.js";
import { lastPoint } from "../curves.js";
import { element, foreign } from "../dom.js";
import { count, counted, score, speed } from "../format.js";

// From the curves, because crawls of old versions have no status: `last` is their end, `shared` where all have as many
// pages. Means change with the number of pages, so they are held against each other there only. A fourth entry tells
// the unit: where it is another, the difference means nothing, and it is never told where that is null.
const FIGURES = [
  ["Pages", (crawl, last) => last.pages, count],
  ["Harvest", (crawl, last) => last.harvest, score, null],
  ["Harvest after N pages", (crawl, last, shared) => shared.harvest, score, scoring],
  ["Recent harvest after N pages", (crawl, last, shared) => shared.recent_harvest, score, scoring],
  ["Mean pages per second", (crawl, last) => (last.seconds ? last.pages / last.seconds : null), speed],
  ["Regret after N pages", (crawl, last, shared) => shared.regret, score, (crawl) => crawl.strategy],
  ["Pages queued", (crawl, last) => last.frontier, count],
  ["Skipped", (crawl, last) => last.n_skipped, count],
  ["Hosts disabled", (crawl, last) => disabledHosts(last), count],
  ["Labels", (crawl) => crawl.n_labels, count],
];

function disabledHosts(point) {
  return point[hostColumns().find((column) => column.host_state === "disabled")?.name];
}

/** What must be the same in two crawls for their relevances to mean the same. */
function scoring(crawl) {
  return crawl.scored_by;
}

/** A row for each figure: its name, then a cell for each crawl. */
export function figureRows(crawls, curves) {
  const lasts = curves.map(lastPoint);
  const nShared = sharedPages(curves);
  const shared = curves.map((one) => pointAt(one, nShared));
  return FIGURES.map(([name, figure, format, unit = () => ""]) => {
    const values = crawls.map((crawl, place) => figure(crawl, lasts[place], shared[place]) ?? null);
    const alike = crawls.map((crawl, place) => place > 0 && unit !== null && unit(crawl) === unit(crawls[0]));
    const cells = values.map((value, place) => cell(value, alike[place] ? values[0] : null, format));
    return [name.replace("N pages", counted(nShared, "page")), ...cells];
  });
}

/** The pages that all crawls have at least. */
function sharedPages(curves) {
  return Math.min(...curves.map((one) => one.pages.at(-1) ?? 0));
}

// Between two points of the curve; harvest by its sum, which grows evenly from one to the other.
function pointAt(curve, pages) {
  const after = curve.pages.findIndex((there) => there >= pages);
  if (after < 0 || pages === 0) return {};
  const before = curve.pages[after] === pages ? after : after - 1;
  const [low, high] = [curve.pages[before] ?? 0, curve.pages[after]];
  const share = high > low ? (pages - low) / (high - low) : 1;
  const between = (first, last) => (isNumber(first) && isNumber(last) ? first + share * (last - first) : null);
  const total = between(low && sumAt(curve, before), sumAt(curve, after));
  return {
    harvest: total === null ? null : total / pages,
    recent_harvest: between(curve.recent_harvest[before], curve.recent_harvest[after]),
    regret: between(curve.regret[before], curve.regret[after]),
  };
}

function sumAt(curve, place) {
  return isNumber(curve.harvest[place]) ? curve.pages[place] * curve.harvest[place] : null;
}

function isNumber(value) {
  return typeof value === "number";
}

/** How crawls are compared, which differences are not told, and why. */
export function howCompared(crawls, curves) {
  const differ = (unit) => crawls.some((crawl) => unit(crawl) !== unit(crawls[0]));
  const nShared = sharedPages(curves);
  const where = `Means are compared after ${counted(nShared, "page")}, which all of these crawls have.`;
  return [
    nShared ? where : "One of these crawls has no page yet, so means cannot be compared.",
    "Time between runs and pauses are left out.",
    differ(scoring) && "Harvest cannot be compared between different topics, relevance models or training pages.",
    differ((crawl) => crawl.strategy) && "Regrets of other strategies cannot be compared.",
  ].filter(Boolean);
}

function cell(value, first, format) {
  const told = element("span", { class: "figure" }, format(value));
  if (value === null || first === null) return [told];
  const difference = value - first;
  const sign = difference > 0 ? "+" : difference < 0 ? "−" : "±";
  return [told, element("span", { class: "difference" }, `${sign}${format(Math.abs(difference))}`)];
}

/** A row for each setting that is not the same in all crawls. */
export function differingSettings(crawls) {
  const told = crawls.map((crawl) => new Map(allSettings(crawl)));
  const names = [...new Set(told.flatMap((one) => [...one.keys()]))];
  return names
    .map((name) => [name, told.map((one) => one.get(name) ?? "–")])
    .filter(([, values]) => new Set(values).size > 1)
    .map(([name, values]) => [name, ...values.map((value) => foreign(value))]);
}

function allSettings(crawl) {
  const { topic, keywords, strategy, relevance_model, settings } = crawl;
  const own = [["Topic", topic], ["Keywords", keywords.join(", ")], ["Strategy", strategy], ["Relevance model", relevance_model]];
  return [...own, ...settings.map((fact) => [fact.name, fact.value])];
}

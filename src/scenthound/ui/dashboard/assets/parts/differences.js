// Key numbers and settings of several crawls, with differences to the first.

import { hostColumns } from "../columns.js";
import { lastPoint } from "../curves.js";
import { element, untrusted } from "../dom.js";
import { count, counted, percent, score, speed } from "../format.js";

// From the curves, because crawls of old versions have no status: `last` is the end, `shared` the point with the number of
// pages that all crawls have. Means depend on the number of pages, so only those at `shared` are compared. The fourth
// entry is the scale: values with different scales are not compared, and none are if it is null.
const NUMBERS = [
  ["Pages", (crawl, last) => last.pages, count],
  ["Harvest", (crawl, last) => last.harvest, score, null],
  ["Harvest after N pages", (crawl, last, shared) => shared.harvest, score, scoring],
  ["Recent harvest after N pages", (crawl, last, shared) => shared.recent_harvest, score, scoring],
  ["Mean pages per second", (crawl, last) => (last.seconds ? last.pages / last.seconds : null), speed],
  ["Score given up after N pages", (crawl, last, shared) => shared.regret, percent],
  ["Pages queued", (crawl, last) => last.frontier, count],
  ["Skipped", (crawl, last) => last.n_skipped, count],
  ["Hosts disabled", (crawl, last) => disabledHosts(last), count],
  ["Labels", (crawl) => crawl.n_labels, count],
];

function disabledHosts(point) {
  return point[hostColumns().find((column) => column.host_state === "disabled")?.name];
}

/** Relevance is comparable between crawls for which this is equal. */
function scoring(crawl) {
  return crawl.scored_by;
}

/** A row for each number: its name, then a cell for each crawl. */
export function numberRows(crawls, curves) {
  const lasts = curves.map(lastPoint);
  const nShared = sharedPages(curves);
  const shared = curves.map((each) => pointAt(each, nShared));
  return NUMBERS.map(([name, value, format, scale = () => ""]) => {
    const values = crawls.map((crawl, index) => value(crawl, lasts[index], shared[index]) ?? null);
    const isComparable = crawls.map((crawl, index) => index > 0 && scale !== null && scale(crawl) === scale(crawls[0]));
    const cells = values.map((each, index) => cell(each, isComparable[index] ? values[0] : null, format));
    return [name.replace("N pages", counted(nShared, "page")), ...cells];
  });
}

/** The number of pages that all crawls have. */
function sharedPages(curves) {
  return Math.min(...curves.map((each) => each.pages.at(-1) ?? 0));
}

// Interpolated between two points of the curve; for the harvest, its sum is.
function pointAt(curve, pages) {
  const after = curve.pages.findIndex((each) => each >= pages);
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

function sumAt(curve, index) {
  return isNumber(curve.harvest[index]) ? curve.pages[index] * curve.harvest[index] : null;
}

function isNumber(value) {
  return typeof value === "number";
}

/** Notes on how crawls are compared. */
export function comparisonNotes(crawls, curves) {
  const differ = (scale) => crawls.some((crawl) => scale(crawl) !== scale(crawls[0]));
  const nShared = sharedPages(curves);
  const where = `Means are compared after ${counted(nShared, "page")}, which all of these crawls have.`;
  return [
    nShared ? where : "One of these crawls has no page yet, so means cannot be compared.",
    "Time between runs and pauses are left out.",
    differ(scoring) && "Harvest cannot be compared between different topics, relevance models or training pages.",
  ].filter(Boolean);
}

function cell(value, first, format) {
  const text = element("span", { class: "figure" }, format(value));
  if (value === null || first === null) return [text];
  // Differences below the rounding of sums count as none.
  const exact = value - first;
  const difference = Math.abs(exact) < 1e-9 * Math.abs(first) ? 0 : exact;
  const sign = difference > 0 ? "+" : difference < 0 ? "−" : "±";
  return [text, element("span", { class: "difference" }, `${sign}${format(Math.abs(difference))}`)];
}

/** A row for each setting that differs between crawls. */
export function differingSettings(crawls) {
  const settings = crawls.map((crawl) => new Map(allSettings(crawl)));
  const names = [...new Set(settings.flatMap((each) => [...each.keys()]))];
  return names
    .map((name) => [name, settings.map((each) => each.get(name) ?? "–")])
    .filter(([, values]) => new Set(values).size > 1)
    .map(([name, values]) => [name, ...values.map((value) => untrusted(value))]);
}

function allSettings(crawl) {
  const { topic, keywords, strategy, relevance_model, settings } = crawl;
  // Settings have the same names; a crawl whose settings cannot be read has only these.
  const own = [["topic", topic], ["keywords", keywords.join(", ")], ["strategy", strategy], ["relevance", relevance_model]];
  return [...own, ...settings.map((fact) => [fact.name, fact.value])];
}

// Figures and settings of several crawls in rows, each beside that of the first.

import { lastPoint } from "../curves.js";
import { element, foreign } from "../dom.js";
import { count, score, speed } from "../format.js";

// From the end of the curves, because crawls of old versions have no status. A fourth entry tells the unit: where it is
// another, the difference means nothing.
const FIGURES = [
  ["Pages", (crawl, last) => last.pages, count],
  ["Harvest", (crawl, last) => last.harvest, score, scoring],
  ["Harvest of late", (crawl, last) => last.harvest_of_late, score, scoring],
  ["Pages a second, on average", (crawl, last) => (last.seconds ? last.pages / last.seconds : null), speed],
  ["Regret", (crawl, last) => last.regret, score, (crawl) => crawl.strategy],
  ["Pages waiting", (crawl, last) => last.frontier, count],
  ["Not taken", (crawl, last) => last.not_taken, count],
  ["Hosts retired", (crawl, last) => last.hosts_retired, count],
  ["Labels", (crawl) => crawl.n_labels, count],
];

/** What must be the same in two crawls for their relevances to mean the same. */
function scoring(crawl) {
  return JSON.stringify([crawl.topic, crawl.keywords, crawl.guide]);
}

/** A row for each figure: its name, then a cell for each crawl. */
export function figureRows(crawls, curves) {
  const lasts = curves.map(lastPoint);
  return FIGURES.map(([name, figure, format, unit = () => ""]) => {
    const values = crawls.map((crawl, place) => figure(crawl, lasts[place]) ?? null);
    const alike = crawls.map((crawl, place) => place > 0 && unit(crawl) === unit(crawls[0]));
    return [name, ...values.map((value, place) => cell(value, alike[place] ? values[0] : null, format))];
  });
}

/** Which differences are not told, and why. */
export function whyNotCompared(crawls) {
  const differ = (unit) => crawls.some((crawl) => unit(crawl) !== unit(crawls[0]));
  return [
    differ(scoring) && "Harvests by other topics or guides cannot be compared.",
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
  const { topic, keywords, strategy, guide, settings } = crawl;
  const own = [["Topic", topic], ["Keywords", keywords.join(", ")], ["Strategy", strategy], ["Guide", guide]];
  return [...own, ...settings.map((fact) => [fact.name, fact.value])];
}

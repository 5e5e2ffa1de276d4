// The curves of a running crawl, and their charts.

import { hostColumns } from "./columns.js";
import { timeUnit } from "./format.js";

// More points are not visible on a screen, and a page may stay open for days.
const MAX_POINTS = 1500;
const TWO_SCALES = "Different relevance models scored the pages before and after a mark: do not compare their means.";

/** The curves of a crawl without points. */
export function noCurves() {
  return { seconds: [], pages: [] };
}

/** The last point of the curves, with the field names of the status; undefined if there are no points. */
export function lastPoint(curves) {
  const last = mapped(curves, (values) => values.at(-1));
  return { ...last, n_pages: last.pages };
}

/** The curves with new points. If there are too many, every second one is dropped, but never the last. */
export function extended(curves, added) {
  const all = mapped(added, (values, name) => (curves[name] ?? []).concat(values));
  return all.pages.length > MAX_POINTS ? halved(all) : all;
}

function mapped(curves, change) {
  return Object.fromEntries(Object.entries(curves).map(([name, values]) => [name, change(values, name)]));
}

function halved(curves) {
  const last = curves.pages.length - 1;
  const kept = (_, index) => (last - index) % 2 === 0;
  return mapped(curves, (values) => values.filter(kept));
}

/** The data of a chart. */
export function chart(name, title, axes, series, others = {}) {
  const seriesDefaults = { error: null, hidden: false };
  const defaults = { kind: "curves", categories: [], markers: [], note: "" };
  return { name, title, ...axes, ...defaults, ...others, series: series.map((each) => ({ ...seriesDefaults, ...each })) };
}

/** The charts of one crawl, in display order, with marks where retrained relevance models start. */
export function crawlCharts(curves, models) {
  const byPages = { x_label: "pages", x: curves.pages };
  const unit = timeUnit(curves.seconds.at(-1) ?? 0);
  const byTime = { x_label: unit.name, x: curves.seconds.map((seconds) => seconds / unit.seconds) };
  const markers = models.map((model) => ({ x: model.visit, label: "relevance model retrained" }));
  return [
    drawn("harvest", "Harvest", byPages, "mean relevance", [
      ["so far", curves.harvest], ["last 200 pages", curves.recent_harvest]], { markers, note: models.length ? TWO_SCALES : "" }),
    drawn("speed", "Speed", byTime, "pages per second", [["speed", curves.pages_per_s]], {
      note: "Over the last ten seconds, without pauses and the time between runs." }),
    drawn("frontier", "Frontier", byPages, "pages queued", [["frontier", curves.frontier]]),
    drawn("hosts", "Hosts", byTime, "hosts", hostColumns().map((column) => [column.title, curves[column.name]])),
    drawn("regret", "Score given up", byPages, "percent of the best score", [
      ["score given up", curves.regret?.map((share) => (share === null ? null : 100 * share))]], {
      note: "The cost of politeness: the mean share of the best queued score that was given up because its host had to wait." }),
  ];
}

function drawn(name, title, across, y_label, lines, others = {}) {
  const series = lines.map(([label, y]) => ({ name: label, x: across.x, y: y ?? [] }));
  return chart(name, title, { x_label: across.x_label, y_label }, series, others);
}

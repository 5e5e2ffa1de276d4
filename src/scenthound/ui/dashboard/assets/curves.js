// The curves of a crawl while they grow, and the charts that are made of them.

import { timeUnit } from "./format.js";

const NAMES = [
  "seconds", "pages", "harvest", "recent_harvest", "pages_per_s", "regret", "frontier", "hosts_active",
  "hosts_waiting", "hosts_ready", "hosts_disabled", "skipped",
];
// More points are not seen on a screen, and a crawl may be watched for days.
const MOST_POINTS = 1500;
const TWO_SCALES = "Different relevance models scored the pages before and after a mark: do not compare their means.";

/** A crawl that has not begun. */
export function noCurves() {
  return Object.fromEntries(NAMES.map((name) => [name, []]));
}

/** The last point of curves; fields of a crawl without points are undefined. */
export function lastPoint(curves) {
  return Object.fromEntries(NAMES.map((name) => [name, curves[name].at(-1)]));
}

/** The curves with new points; every second one is dropped when they are too many, but never the last. */
export function extended(curves, added) {
  const long = Object.fromEntries(NAMES.map((name) => [name, curves[name].concat(added[name])]));
  return long.pages.length > MOST_POINTS ? halved(long) : long;
}

function halved(curves) {
  const last = curves.pages.length - 1;
  const kept = (_, place) => (last - place) % 2 === 0;
  return Object.fromEntries(NAMES.map((name) => [name, curves[name].filter(kept)]));
}

/** What a chart script draws. */
export function chart(name, title, axes, series, others = {}) {
  const whole = { error: null, hidden: false };
  const empty = { kind: "curves", categories: [], markers: [], note: "" };
  return { name, title, ...axes, ...empty, ...others, series: series.map((one) => ({ ...whole, ...one })) };
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
    drawn("speed", "Speed", byTime, "pages a second", [["speed", curves.pages_per_s]], {
      note: "Of the last ten seconds. Pauses and the time between runs are left out." }),
    drawn("frontier", "Frontier", byPages, "pages that wait", [["frontier", curves.frontier]]),
    drawn("hosts", "Hosts", byTime, "hosts", [
      ["in process", curves.hosts_active], ["resting", curves.hosts_waiting],
      ["ready", curves.hosts_ready], ["retired", curves.hosts_disabled]]),
    drawn("regret", "Regret", byPages, "mean score given up", [["regret", curves.regret]], {
      note: "What politeness cost: how much better the page was that would have been taken if no host had to rest." }),
  ];
}

function drawn(name, title, across, y_label, lines, others = {}) {
  const series = lines.map(([label, y]) => ({ name: label, x: across.x, y }));
  return chart(name, title, { x_label: across.x_label, y_label }, series, others);
}

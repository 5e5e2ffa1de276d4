// The page of an experiment: summary, facts and a link to its report.

import { get, pagePath } from "../api.js";
import { chart } from "../curves.js";
import { element, facts, fill, newTab, section, untrusted } from "../dom.js";
import { shellWord } from "../format.js";
import { LiveCharts } from "../parts/charts.js";
import { commandBox, emptyNote } from "../parts/notes.js";

const REFRESH_MS = 10000;

export async function showExperiment(main, id) {
  const path = pagePath("api", "experiments", id);
  const experiment = await get(path);
  document.title = `${experiment.name} · Scenthound`;
  const charts = new LiveCharts();
  const rows = experiment.facts.map((fact) => [fact.name, untrusted(fact.value)]);
  const paragraphs = experiment.summary.map((text) => element("p", {}, untrusted(text)));
  const summary = element("div", { class: "summary" }, paragraphs);
  fill(main, head(experiment), summary, links(experiment), experiment.generations && charts.element,
    rows.length > 0 && section("Facts", {}, facts(rows)));
  if (experiment.generations) follow(path, experiment.generations, charts);
}

// The search may be running.
function follow(path, generations, charts) {
  if (generations) charts.update([searchChart(generations)]);
  setTimeout(async () => {
    const next = document.hidden ? null : await get(path).catch(() => null);
    follow(path, next?.generations, charts);
  }, REFRESH_MS);
}

function head(experiment) {
  const kind = element("span", { class: "kind" }, experiment.kind);
  const title = experiment.title && experiment.title !== experiment.name && [" (", untrusted(experiment.title), ")"];
  const about = element("p", { class: "about" }, kind, title, " in ", untrusted(experiment.path, { class: "path" }));
  return element("header", {}, element("h1", {}, untrusted(experiment.name)), about);
}

// Recorded webs have no report.
function links(experiment) {
  const link = { class: "report-link", ...newTab(experiment.report) };
  if (experiment.report) return element("p", {}, element("a", link, "Open the report"));
  if (experiment.kind !== "web") return null;
  const web = shellWord(experiment.path);
  const command = `scenthound simulate --web ${web} --topics FILE --strategy NAME --out DIR`;
  return element("div", {}, emptyNote("To crawl it:"), commandBox(command));
}

function searchChart(generations) {
  const values = (name) => generations.map((each) => each[name]);
  const line = (name) => ({ name, x: values("generation"), y: values(name) });
  const axes = { x_label: "generation", y_label: "fitness" };
  return chart("fitness", "Fitness by generation", axes, [line("best"), line("mean")]);
}

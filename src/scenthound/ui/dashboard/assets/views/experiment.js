// The page of an experiment: what it found, in words, its facts, and what can be done with it.

import { ask, pageAddress } from "../api.js";
import { chart } from "../curves.js";
import { apart, element, facts, fill, foreign, section } from "../dom.js";
import { shellWord } from "../format.js";
import { LiveCharts } from "../parts/live_charts.js";
import { commandBox, emptyNote } from "../parts/notes.js";

const AGAIN_MS = 10000;

export async function showExperiment(place, id) {
  const address = pageAddress("api", "experiments", id);
  const experiment = await ask(address);
  document.title = `${experiment.name} · Scenthound`;
  const charts = new LiveCharts();
  const rows = experiment.facts.map((fact) => [fact.name, foreign(fact.value)]);
  const paragraphs = experiment.summary.map((text) => element("p", {}, foreign(text)));
  const summary = element("div", { class: "summary" }, paragraphs);
  fill(place, head(experiment), summary, further(experiment), experiment.search && charts.element,
    rows.length > 0 && section("Facts", {}, facts(rows)));
  if (experiment.search) follow(address, experiment.search, charts);
}

// A search may be going on.
function follow(address, search, charts) {
  if (search) charts.update([searchChart(search)]);
  setTimeout(async () => {
    const now = document.hidden ? null : await ask(address).catch(() => null);
    follow(address, now?.search, charts);
  }, AGAIN_MS);
}

function head(experiment) {
  const kind = element("span", { class: "kind" }, experiment.kind);
  const title = experiment.title && experiment.title !== experiment.name && [" (", foreign(experiment.title), ")"];
  const about = element("p", { class: "about" }, kind, title, " in ", foreign(experiment.path, { class: "path" }));
  return element("header", {}, element("h1", {}, foreign(experiment.name)), about);
}

// There are reports of all but recorded webs.
function further(experiment) {
  const link = { class: "report-link", ...apart(experiment.report) };
  if (experiment.report) return element("p", {}, element("a", link, "Open the report"));
  if (experiment.kind !== "web") return null;
  const web = shellWord(experiment.path);
  const command = `scenthound simulate --web ${web} --topics FILE --strategy NAME --out DIR`;
  return element("div", {}, emptyNote("Strategies can crawl it:"), commandBox(command));
}

function searchChart(search) {
  const line = (name) => ({ name, x: search.generation, y: search[name] });
  const axes = { x_label: "generation", y_label: "fitness" };
  return chart("fitness", "The search", axes, [line("best"), line("mean")]);
}
